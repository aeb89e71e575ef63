import type { Case } from './case.ts'

/** By which cases of the suite are chosen; nothing given chooses all. */
export interface Choice {
  /** Numbers of the contract: a case that tests one of them is chosen. `2` has 2.1, 2.2 and so on, `spec 4.2` has its rules. */
  readonly sections: readonly string[]
  /** Words that a title must have one of, in any letter case. */
  readonly titles: readonly string[]
}

export function chosen(cases: readonly Case[], { sections, titles }: Choice): readonly Case[] {
  const bySection = (one: Case) =>
    sections.length === 0 || one.of.some((number) => sections.some((section) => isIn(number, section)))
  const byTitle = ({ title }: Case) =>
    titles.length === 0 || titles.some((words) => title.toLowerCase().includes(words.toLowerCase()))
  return cases.filter((one) => bySection(one) && byTitle(one))
}

const isIn = (number: string, section: string): boolean =>
  number === section || number.startsWith(`${section}.`) || number.startsWith(`${section}, `)
