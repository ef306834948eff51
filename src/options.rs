//! Options are set one by one, `BfsOptions::default().with_parents(false)`, so that a new one breaks no program.

/// The setters of a struct of options. A field that is an `Option` is set to a value: `=> Some(…)`.
macro_rules! setters {
    ($of:ident $(<$life:lifetime>)? { $($set:ident($field:ident: $type:ty $(=> $value:expr)?);)+ }) => {
        impl $(<$life>)? $of $(<$life>)? {$(
            #[doc = concat!("These options with [`", stringify!($field), "`](field@Self::", stringify!($field), "). O(1).")]
            #[must_use]
            pub fn $set(mut self, $field: $type) -> Self {
                self.$field = setters!(@ $field $($value)?);
                self
            }
        )+}
    };
    (@ $field:ident) => { $field };
    (@ $field:ident $value:expr) => { $value };
}
pub(crate) use setters;
