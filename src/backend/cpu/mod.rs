pub(crate) use super::reference::Reference as Cpu;
