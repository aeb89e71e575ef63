import type { Context } from './context.ts'

/** The password of an option: `-` asks for it; one that is written out is warned about, for others may have seen it. */
export async function givenPassword(
  option: string,
  { input, output }: Pick<Context, 'input' | 'output'>,
): Promise<string> {
  if (option === '-') return input.password()
  output.note("Everybody on this machine can see a password on a command line, with ps; '--password -' asks for it.")
  return option
}
