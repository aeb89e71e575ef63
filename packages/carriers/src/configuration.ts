import type { Route } from '@gateway/core'
import type { CarrierSpecification } from './carrier-specification.ts'

/** Environment variables, by name. */
export type Variables = Readonly<Record<string, string | undefined>>

export interface CarrierConfiguration {
  readonly carriers: readonly CarrierSpecification[]
  /** In the order in which they are tried; none: any carrier takes any message. */
  readonly routes: readonly Route[]
  /** The file that it comes from, if it comes from one. */
  readonly file: string | undefined
}
