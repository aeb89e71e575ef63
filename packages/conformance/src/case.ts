import type { TestedGateway } from './tested-gateway.ts'

/** Test of one promise of the contract against a running gateway. */
export interface Case {
  /**
   * What it tests, by the numbers of docs/contract.md: `2.9` is a ruling, `spec 4.2, rule 3` the specification. The
   * first is its section.
   */
  readonly of: readonly [string, ...string[]]
  /** The promise, as a sentence. */
  readonly title: string
  /** Resource that no other case may use at the same time. */
  readonly alone?: 'sub' | 'replies' | 'code' | 'trial'
  /** Maximum number of message parts that are sent and stay charged. */
  readonly parts?: number
  /** Throws if the promise is not kept, and NotTestable if this deployment cannot be asked. */
  readonly run: (gateway: TestedGateway) => Promise<void>
}

/** A promise that cannot be tested from outside, and the test of this repository that does it. */
export interface CoveredElsewhere {
  readonly of: string
  readonly what: string
  /** From the root of the repository. */
  readonly by: string
}

/** The chapter of the contract that a number is in, as reports group it. */
export const sectionOf = (number: string): string => number.replace(/, rule.*/, '')

/** By which cases of the suite are chosen; nothing given chooses all. */
export interface Choice {
  /**
   * Numbers of the contract: a case that tests one of them is chosen. `2` has 2.1, 2.2 and so on, `spec 4.2` has its
   * rules.
   */
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
