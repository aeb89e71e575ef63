import type { Route } from '@gateway/core'
import type { CarrierSpecification } from './carrier-specification.ts'
import type { Found } from './look-ups.ts'

/** What a configuration was read from: all that is needed to read it again elsewhere, secrets included. */
export interface CarrierSource extends Found {
  /** As JSON, of the published schema. */
  readonly document: unknown
}

export interface CarrierConfiguration {
  readonly carriers: readonly CarrierSpecification[]
  /** In the order in which they are tried; none: any carrier takes any message. */
  readonly routes: readonly Route[]
  /** The file that it comes from, if it comes from one. */
  readonly file: string | undefined
  readonly source: CarrierSource
}
