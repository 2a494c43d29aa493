// PTX: Half Precision Floating-Point Instructions: add, sub, mul, fma, neg, abs, min, max, tanh,
// ex2; Mixed Precision Floating-Point Instructions: add, sub, fma.
