/** What a person asks for with a text of one or a few words. */
export type OptKeyword = 'opt-out' | 'opt-in'

const optOutWords = /^(?:stop|end|cancel|unsubscribe|quit)$/
/** Any one character, be it of two code units, or a line break. */
const optOutStart = /^(?:stop send|opt out|opt.out)/su
const optInWords = /^(?:start|unstop)$/

/**
 * Whether a text opts out (spec 3, trigger words; ruling 1.21) or in again (ruling 1.22): without the white space around it, and
 * without regard to the letter case of A to Z, whatever the locale.
 */
export function optKeywordOf(text: string): OptKeyword | undefined {
  const words = text.trim().replace(/[A-Z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 32))
  if (optOutWords.test(words) || optOutStart.test(words)) return 'opt-out'
  return optInWords.test(words) ? 'opt-in' : undefined
}
