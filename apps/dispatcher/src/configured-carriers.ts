import {
  makeCarrier,
  readConfiguration,
  type CarrierConfiguration,
  type CarrierSpecification,
  type Variables,
} from '@gateway/carriers'
import type { Carrier } from '@gateway/core'
import type { Log } from '@gateway/server'

/** The carriers of the configuration, not yet connected, and how to read it again. */
export interface ConfiguredCarriers {
  readonly configuration: CarrierConfiguration
  readonly carriers: readonly Carrier[]
  readonly read: () => Promise<CarrierConfiguration>
  readonly make: (specification: CarrierSpecification) => Carrier
}

interface Context {
  readonly environment: { readonly CARRIERS: string; readonly DATA_DIR: string }
  readonly log: Pick<Log, 'error'>
}

/** The carriers of the environment; `variables` has the secrets that a file of carriers names. Throws an Error that says what is wrong. */
export async function carriersFor({ environment, log }: Context, variables: Variables): Promise<ConfiguredCarriers> {
  const place = { dataDir: environment.DATA_DIR, report: (err: unknown) => log.error({ err }, 'carrier') }
  const read = (): Promise<CarrierConfiguration> => readConfiguration(environment.CARRIERS, variables)
  const make: ConfiguredCarriers['make'] = (specification) => makeCarrier(specification, place)
  const configuration = await read()
  return { configuration, carriers: configuration.carriers.map(make), read, make }
}
