// 3GPP TS 23.038, 6.2.1 and 6.2.1.1; written here and not shared, so that an error of the gateway's table is found.
const basic =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\x1bÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà'
const extension: Readonly<Record<string, number>> = {
  ...{ '\f': 0x0a, '^': 0x14, '{': 0x28, '}': 0x29, '\\': 0x2f },
  ...{ '[': 0x3c, '~': 0x3d, ']': 0x3e, '|': 0x40, '€': 0x65 },
}

/** One septet in each octet; undefined: some character is not in the alphabet. */
export function gsm7(text: string): Buffer | undefined {
  const octets: number[] = []
  for (const character of text) {
    const at = basic.indexOf(character)
    const extended = extension[character]
    if (at >= 0 && character !== '\x1b') octets.push(at)
    else if (extended !== undefined) octets.push(0x1b, extended)
    else return undefined
  }
  return Buffer.from(octets)
}

/** UTF-16 with the high octet first. */
export const ucs2 = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16()
