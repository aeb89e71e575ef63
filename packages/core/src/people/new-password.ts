import type { Ports } from '../ports.ts'

const passwordLengthMax = 255

/** A password is 1 to 255 characters and more than white space, since a blank one counts as not given (ruling 3.1). */
export const isPassword = (text: string): boolean => text.trim() !== '' && text.length <= passwordLengthMax

/** A new password is at least so long. */
export const newPasswordMin = 10

/** Common: on a list of passwords that many use, or the name itself (NIST SP 800-63B, 5.1.1.2). */
export type NewPasswordRefusal = 'invalid-password' | 'too-short' | 'too-common'

/** Why nobody may choose this password, in any letter case of a common one; undefined: it may be chosen. */
export async function newPasswordRefusal(
  { secrets }: Pick<Ports, 'secrets'>,
  wanted: string,
  name: string,
): Promise<NewPasswordRefusal | undefined> {
  if (!isPassword(wanted)) return 'invalid-password'
  if (wanted.length < newPasswordMin) return 'too-short'
  const isCommon = wanted.toLowerCase() === name.toLowerCase() || (await secrets.isCommonPassword(wanted))
  return isCommon ? 'too-common' : undefined
}
