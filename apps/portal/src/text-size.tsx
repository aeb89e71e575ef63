import { bodyOf, costlyCharacters } from '@gateway/core/messages'
import { counted } from './format.ts'

const namedMax = 12

/** Joins characters with spaces. Lists at most `namedMax` characters, followed by `…` if there are more. */
const named = (characters: readonly string[]): string =>
  characters.slice(0, namedMax).join(' ') + (characters.length > namedMax ? ' …' : '')

/** Describes a text: its length, the number of parts, and the characters that make it expensive. */
export function TextSize({ text }: { readonly text: string }) {
  const body = bodyOf(text)
  if (body === 'no-message') return <>A message has up to 160 characters in one part, 153 a part if it has more.</>
  if (body === 'too-long') return <strong>This text is too long to be sent.</strong>
  const { outside, replaced, double } = costlyCharacters(text)
  return (
    <>
      <strong>
        {counted(Array.from(body.text).length, 'character')}, {counted(body.parts, 'part')}.
      </strong>
      {outside.length > 0 && (
        <>
          {' '}
          Because of <span class="text">{named(outside)}</span> a part has room for 70 characters, or 67 if there are
          several.
        </>
      )}
      {replaced.length > 0 && (
        <>
          {' '}
          Replaced by similar characters, which is cheaper:{' '}
          <span class="text">{named(replaced.map(([written, sent]) => `${shown(written)} as ${shown(sent)}`))}</span>.
        </>
      )}
      {double.length > 0 && (
        <>
          {' '}
          Each of <span class="text">{named(double.map(shown))}</span> counts twice.
        </>
      )}
    </>
  )
}

const INVISIBLE: Readonly<Record<string, string>> = {
  ' ': 'a space',
  '\t': 'a tab',
  '\n': 'a line break',
  '\f': 'a form feed',
  '\u00a0': 'a fixed space',
}

const shown = (character: string): string => INVISIBLE[character] ?? (/^\s$/.test(character) ? 'a space' : character)
