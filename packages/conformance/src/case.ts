import type { TestedGateway } from './tested-gateway.ts'

/** Test of one promise of the contract against a running gateway. */
export interface Case {
  /**
   * Promises that the case tests, by their numbers in docs/contract.md: `2.9` is a ruling, `spec 4.2, rule 3` a rule of
   * the specification. The first number determines the section under which the case is reported.
   */
  readonly of: readonly [string, ...string[]]
  /** Guarantee that the case checks, as a sentence. */
  readonly title: string
  /** Resource that no other concurrent case may use. */
  readonly alone?: 'sub' | 'replies' | 'code' | 'trial' | 'smpp'
  /** Maximum number of message parts that are sent and stay charged. */
  readonly parts?: number
  /** Throws if the promise is broken, and NotTestable if this deployment lacks something that the case needs. */
  readonly run: (gateway: TestedGateway) => Promise<void>
}

/** Promise that cannot be tested from outside, and the test of this repository that covers it. */
export interface CoveredElsewhere {
  readonly of: string
  readonly promise: string
  /** Path from the root of the repository. */
  readonly by: string
}

/** Returns the section of the contract to which a number belongs, for reports. */
export const sectionOf = (number: string): string => number.replace(/, rule.*/, '')

/** Selection of cases. An empty selection chooses all. */
export interface Choice {
  /**
   * Numbers of the contract. A case is chosen if it tests one of them. `2` includes 2.1, 2.2 and so on; `spec 4.2`
   * includes its rules.
   */
  readonly sections: readonly string[]
  /** Words of which a title must contain one, in any letter case. */
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
