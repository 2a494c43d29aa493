// PTX: Floating-Point Instructions: the `.approx` forms (div, rcp, sqrt, rsqrt, sin, cos, lg2, ex2,
// tanh), div.full, and the correctly rounded div, rcp, sqrt of f32 and f64.
