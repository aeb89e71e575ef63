export { createProgram } from './program.ts'
export type { Context, Input, Run } from './context.ts'
export { createOutput, type Output } from './output.ts'
