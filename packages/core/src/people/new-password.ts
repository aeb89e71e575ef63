import type { Ports } from '../ports.ts'

const passwordLengthMax = 255

/**
 * Returns true for a password of 1 to 255 characters that is not only white space, because a blank one counts as
 * missing (ruling 3.1).
 */
export const isPassword = (text: string): boolean => text.trim() !== '' && text.length <= passwordLengthMax

/** Minimum number of characters of a new password. */
export const newPasswordMin = 10

/**
 * Reason why a new password is refused. `too-common`: it is on a list of frequent passwords, or equals the name (NIST
 * SP 800-63B, 5.1.1.2).
 */
export type NewPasswordRefusal = 'invalid-password' | 'too-short' | 'too-common'

/**
 * Returns why nobody may choose this password, or undefined if it is allowed. Letter case does not make a common
 * password less common.
 */
export async function newPasswordRefusal(
  { secrets }: Pick<Ports, 'secrets'>,
  password: string,
  name: string,
): Promise<NewPasswordRefusal | undefined> {
  if (!isPassword(password)) return 'invalid-password'
  if (password.length < newPasswordMin) return 'too-short'
  const isCommon = password.toLowerCase() === name.toLowerCase() || (await secrets.isCommonPassword(password))
  return isCommon ? 'too-common' : undefined
}
