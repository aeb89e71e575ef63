let known: Promise<ReadonlySet<string>> | undefined

interface Words {
  readonly dictionary: { readonly 'passwords-common': readonly string[] }
}

/** Some 49 000 passwords in lower case, MIT licence. Read when the first password is chosen: it is 400 kB. */
const read = async (): Promise<ReadonlySet<string>> => {
  // CommonJS: a bundle has it as the default only.
  const found: Words & { readonly default?: Words } = await import('@zxcvbn-ts/language-common')
  return new Set((found.default ?? found).dictionary['passwords-common'])
}

/** Whether a password is, in any letter case, one of those that were found most often where passwords were stolen. */
export const isCommonPassword = async (password: string): Promise<boolean> =>
  (await (known ??= read())).has(password.toLowerCase())
