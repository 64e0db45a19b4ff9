"""The rules of the IR, a module for each group of codes; `vyre_wgpu.ir.validate` runs them."""
