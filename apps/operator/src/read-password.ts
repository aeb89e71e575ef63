import { Refused, type Input } from './context.ts'

export async function readPassword(input: Input): Promise<string> {
  const password = await input.secret('Password')
  if (password === undefined) throw new Refused('The two passwords differ; nothing was done.')
  return password
}
