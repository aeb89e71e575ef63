/** So many answers are kept. */
const answersMax = 1000

/** The same function, which computes an answer once while it is asked for little else. */
export function remembering<R>(compute: (text: string) => R): (text: string) => R {
  const answers = new Map<string, R>()
  return (text) => {
    const known = answers.get(text)
    if (known !== undefined) return known
    if (answers.size === answersMax) answers.clear()
    const answer = compute(text)
    answers.set(text, answer)
    return answer
  }
}
