import { septets, septetsOfUnit } from './gsm7.ts'
import { dropUnseen, replaceLookAlikes } from './look-alikes.ts'

/**
 * A text that can be sent, as it is sent. `text` alone determines the rest: `bodyOf(body.text)` equals `body`, so that the
 * text is all that has to be stored.
 */
export interface Body {
  readonly text: string
  readonly encoding: 'gsm-7' | 'ucs-2'
  /** 1 to 7 for `gsm-7`, 1 to 6 for `ucs-2`; each is charged. */
  readonly parts: number
}

const septetsMax = 918
const ucs2PartsMax = 6
const single = { 'gsm-7': 160, 'ucs-2': 70 }
const ofSeveral = { 'gsm-7': 153, 'ucs-2': 67 }

/**
 * How `text` is sent (rulings 1.5 to 1.7). As it is, if it fits GSM 7-bit; else with its look-alikes replaced and the
 * characters that nobody sees dropped, if it then fits; else as it was written, in UCS-2, where a replacement would only
 * make it longer and where unseen characters join emoji and shape scripts.
 *
 * `'no-message'`: nothing to read (empty, or white space as `trim` knows it, also after the replacement: a zero-width space
 * is nothing), or no text at all (U+0000 or a lone surrogate in it). `'too-long'`: more than 918 septets, or more than 6
 * parts of UCS-2. A text that is both is `'no-message'`.
 */
export function bodyOf(text: string): Body | 'no-message' | 'too-long' {
  const count = septets(text)
  return count === undefined ? bodyOutsideGsm7(text) : gsm7Body(text, count)
}

function bodyOutsideGsm7(text: string): Body | 'no-message' | 'too-long' {
  if (text.includes('\0') || /\p{Surrogate}/u.test(text)) return 'no-message'
  const replaced = dropUnseen(replaceLookAlikes(text))
  const count = septets(replaced)
  if (count !== undefined) return gsm7Body(replaced, count)
  return isBlank(replaced) ? 'no-message' : ucs2Body(text)
}

function gsm7Body(text: string, count: number): Body | 'no-message' | 'too-long' {
  if (isBlank(text)) return 'no-message'
  if (count > septetsMax) return 'too-long'
  return { text, encoding: 'gsm-7', parts: count <= single['gsm-7'] ? 1 : partEnds(text, 'gsm-7').length }
}

function ucs2Body(text: string): Body | 'too-long' {
  if (text.length <= single['ucs-2']) return { text, encoding: 'ucs-2', parts: 1 }
  if (text.length > ucs2PartsMax * ofSeveral['ucs-2']) return 'too-long'
  const parts = partEnds(text, 'ucs-2').length
  return parts > ucs2PartsMax ? 'too-long' : { text, encoding: 'ucs-2', parts }
}

const isBlank = (text: string): boolean => !/\S/.test(text)

/**
 * The texts of the parts in their order, which joined are `body.text`: `body.parts` of them, or more if a longer header leaves
 * room for fewer than 153 septets or 67 code units in a part.
 */
export function partsOf(
  body: Pick<Body, 'text' | 'encoding' | 'parts'>,
  unitsMax = ofSeveral[body.encoding],
): readonly string[] {
  if (body.parts === 1) return [body.text]
  const ends = partEnds(body.text, body.encoding, unitsMax)
  return ends.map((end, i) => body.text.slice(ends[i - 1] ?? 0, end))
}

/** Where each part of a text of several parts ends: as full as it can be without splitting an escape or surrogate pair. */
function partEnds(text: string, encoding: Body['encoding'], unitsMax = ofSeveral[encoding]): readonly number[] {
  const ends: number[] = []
  let used = 0
  for (let i = 0; i < text.length;) {
    const { length, units } = encoding === 'gsm-7' ? septetsAt(text, i) : codeUnitsAt(text, i)
    if (used + units > unitsMax) {
      ends.push(i)
      used = 0
    }
    used += units
    i += length
  }
  return [...ends, text.length]
}

const septetsAt = (text: string, i: number) => ({ length: 1, units: septetsOfUnit(text.charCodeAt(i)) })

function codeUnitsAt(text: string, i: number) {
  const length = (text.codePointAt(i) ?? 0) > 0xffff ? 2 : 1
  return { length, units: length }
}
