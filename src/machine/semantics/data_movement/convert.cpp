// PTX: Data Movement and Conversion Instructions: cvt, cvt.pack.
