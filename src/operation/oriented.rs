//! Operands as the descriptor's transpose options have them.
use crate::algebra::Scalar;
use crate::backend::cpu;
use crate::backend::{Body, on_backend};
use crate::error::Result;
use crate::memory;
use crate::storage::held::Held;
use crate::storage::store::Store;

/// The store, transposed where asked: row i of the result is column i.
pub(crate) fn oriented<T: Scalar>(store: &Store<T>, transposed: bool) -> Result<Store<T>> {
    if !transposed {
        return Ok(store.once());
    }
    let fewer = store.listed((false, true), "transpose")?;
    let store = fewer.as_ref().unwrap_or(store);
    if let Some(body) = turned(store)? {
        return Ok(Store { rows: store.cols.clone(), cols: store.rows.clone(), body, device: store.device });
    }
    let body = on_backend!(store.device, |backend| { Body::from(backend.transpose(backend.csr(&store.body)?)?) });
    Ok(Store { rows: store.cols.clone(), cols: store.rows.clone(), body, device: store.device })
}

/// The transpose where it takes no entries to be sorted.
fn turned<T: Scalar>(store: &Store<T>) -> Result<Option<Body<T>>> {
    #[cfg(feature = "cuda")]
    if let Body::CudaHeld(h) = &store.body {
        return Ok(h.turned()?.map(Body::from));
    }
    let Body::Held(h) = &store.body else { return Ok(None) };
    if let Some(turned) = h.turned("transpose")? {
        return Ok(Some(Body::Held(turned)));
    }
    let Some(value) = h.one() else { return Ok(None) };
    let pattern = h.frame.pattern("transpose")?;
    let turned = cpu::turned(pattern, &memory::filled("transpose", pattern.nnz(), ())?)?;
    Ok(Some(Body::Held(Held::iso(turned.pattern, value))))
}

pub(crate) fn shape_of<T: Scalar>(store: &Store<T>, transposed: bool) -> (u64, u64) {
    let (rows, cols) = store.shape();
    if transposed { (cols, rows) } else { (rows, cols) }
}
