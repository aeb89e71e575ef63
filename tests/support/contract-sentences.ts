/** Sentence or table row of docs/contract.md, with its number as cases cite it. */
interface Sentence {
  readonly of: string
  readonly text: string
}

const isRule = (line = ''): boolean => /^\|[ |-]+\|$/.test(line)

/**
 * Returns every sentence and table row of the contract in order. Omits lead-ins that end with a colon, headings, and
 * the bold names of rulings.
 */
function readSentences(contract: string): readonly Sentence[] {
  const sentences: Sentence[] = []
  let section = ''
  let of = ''
  let paragraph: string[] = []
  const end = (): void => {
    const text = paragraph.join(' ').replace(/^\*\*[^*]*\.\*\*( |$)/, '')
    paragraph = []
    if (of === '') return
    const parts = text.split(/(?<=\.\)?) (?=[A-Z0-9`+({])/).filter((part) => part !== '' && !part.endsWith(':'))
    sentences.push(...parts.map((part) => ({ of, text: part })))
  }
  const lines = contract.split('\n')
  for (const [i, line] of lines.entries()) {
    const [, number, rule] = /^(\d+)\. (.*)/.exec(line) ?? []
    const ruling = /^\*\*(\d\.\d+) /.exec(line)?.[1]
    if (line === '' || /^[#|]/.test(line) || number !== undefined || ruling !== undefined) end()
    if (line.startsWith('#')) {
      const [, heading = ''] = /^##+ (C?\d+(?:\.\d+)?)\.? /.exec(line) ?? []
      section = /^\d/.test(heading) ? `spec ${heading}` : heading
      of = section
    } else if (line.startsWith('|')) {
      of = section
      if (of !== '' && !isRule(line) && !isRule(lines[i + 1])) sentences.push({ of, text: cellsOf(line) })
    } else if (line === '') of = section
    else if (number !== undefined) {
      of = `${section}, rule ${number}`
      paragraph.push(rule ?? '')
    } else {
      of = ruling ?? of
      paragraph.push(line.trim())
    }
  }
  end()
  return sentences
}

const cellsOf = (row: string): string =>
  row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
    .join(' | ')

/**
 * Compares a list of sentence beginnings with the contract, by the number and the order of the sentences. Returns the
 * differences, or an empty list if each sentence occurs exactly once.
 */
export function wrongBeginnings(
  contract: string,
  list: Readonly<Record<string, readonly (readonly [begins: string, askedBy: string])[]>>,
): readonly string[] {
  const sentences = readSentences(contract)
  const numbers = new Set([...sentences.map(({ of }) => of), ...Object.keys(list)])
  return [...numbers].flatMap((number) => {
    const texts = sentences.filter(({ of }) => of === number).map(({ text }) => text)
    const listed = (list[number] ?? []).map(([begins]) => begins)
    return Array.from({ length: Math.max(texts.length, listed.length) }, (_, i) => [texts[i], listed[i]]).flatMap(
      ([text, begins]) =>
        text !== undefined && begins !== undefined && text.startsWith(begins)
          ? []
          : `${number}: ${text ?? 'no sentence'} / ${begins ?? 'not in the list'}`,
    )
  })
}
