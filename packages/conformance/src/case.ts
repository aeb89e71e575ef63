import type { TestedGateway } from './tested-gateway.ts'

/** One promise of the contract, asked of a running gateway. */
export interface Case {
  /** What it tests, by the numbers of docs/contract.md: `2.9` is a ruling, `spec 4.2, rule 3` the specification. The first is its section. */
  readonly of: readonly [string, ...string[]]
  /** The promise, as a sentence. */
  readonly title: string
  /** What no other case may touch meanwhile. */
  readonly alone?: 'sub' | 'replies' | 'code' | 'trial'
  /** Message parts that leave at most, and stay charged. */
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
