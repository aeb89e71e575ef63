/** What the bytes 80 to 9F stand for; the five that stand for nothing keep their value. */
const high = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

/** Every byte is a character. The decoder of Node (seen on 20.20) takes 80 to 9F for control characters: no euro sign. */
export const decodeWindows1252 = (bytes: Buffer): string =>
  bytes.toString('latin1').replace(/[\x80-\x9f]/g, (control) => high.charAt(control.charCodeAt(0) - 0x80))
