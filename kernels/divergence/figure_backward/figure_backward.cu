// figure_backward has the control flow of Figure 9 of Wu et al., "Characterization and Transformation of Unstructured Control Flow
// in Bulk Synchronous GPU Applications": a loop with two entries, which is irreducible.
// Block 1 enters the loop at 2 or at 3; 2 goes to 3 or the end, 3 to 2, to itself or the end. It is a walk through a table, in PTX, as
// compilers of C++ copy a part of such loops.
extern "C" __global__ void figure_backward(const unsigned char *ways, const unsigned *table, unsigned *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned hash = i, way = ways[i];
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 ".reg .u32 t;\n"
                 ".reg .u64 a;\n"
                 "setp.ne.u32 p, %1, 0;\n"
                 "@p bra BLOCK3;\n"
                 "BLOCK2:\n"
                 "mul.lo.u32 %0, %0, 1664525;\n"
                 "add.u32 %0, %0, 1013904223;\n"
                 "shr.u32 t, %0, 24;\n"
                 "mad.wide.u32 a, t, 4, %2;\n"
                 "ld.volatile.global.u32 t, [a];\n"
                 "xor.b32 %0, %0, t;\n"
                 "st.volatile.global.u32 [%3], %0;\n"
                 "setp.lt.u32 p, %0, 0x08000000;\n"
                 "@p bra BLOCK4;\n"
                 "BLOCK3:\n"
                 "shl.b32 t, %0, 7;\n"
                 "xor.b32 %0, %0, t;\n"
                 "and.b32 t, %0, 255;\n"
                 "mad.wide.u32 a, t, 4, %2;\n"
                 "ld.volatile.global.u32 t, [a];\n"
                 "add.u32 %0, %0, t;\n"
                 "st.volatile.global.u32 [%3+4], %0;\n"
                 "setp.lt.u32 p, %0, 0x80000000;\n"
                 "@p bra BLOCK2;\n"
                 "setp.lt.u32 p, %0, 0xf0000000;\n"
                 "@p bra BLOCK3;\n"
                 "BLOCK4:\n"
                 "}"
                 : "+r"(hash), "+r"(way)
                 : "l"(table), "l"(out + 2 * i)
                 : "memory");
}
