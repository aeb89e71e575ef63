type Fields = Readonly<Record<string, unknown>>

const hidden = '***'

/** A document of carriers that is right, without the passwords in it. What stands elsewhere is named as it is there. */
export function withoutPasswords(document: unknown): unknown {
  const { carriers, ...rest } = document as Fields & { readonly carriers: readonly Fields[] }
  return { ...rest, carriers: carriers.map(withoutPassword) }
}

function withoutPassword(entry: Fields): Fields {
  const { url, password } = entry
  return {
    ...entry,
    ...(typeof password === 'string' && { password: hidden }),
    ...(typeof url === 'string' && { url: url.replace(/(:\/\/[^/?#]*?:)[^/?#]*@/, `$1${hidden}@`) }),
  }
}
