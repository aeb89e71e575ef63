import {
  makeCarrier,
  readConfiguration,
  type CarrierConfiguration,
  type CarrierSpecification,
  type Place,
  type Variables,
} from '@gateway/carriers'
import type { Carrier } from '@gateway/core'
import type { Log } from '@gateway/server'

/** The configuration of carriers, how to read it again, and how to make one of them. */
export interface ConfiguredCarriers {
  readonly configuration: CarrierConfiguration
  readonly read: () => Promise<CarrierConfiguration>
  readonly make: (specification: CarrierSpecification, sharing: Place['sharing']) => Carrier
}

interface Context {
  readonly environment: { readonly CARRIERS: string; readonly DATA_DIR: string }
  readonly log: Pick<Log, 'error' | 'warn'>
}

/** The carriers of the environment; `variables` has the secrets that a file of carriers names. Throws an Error that says what is wrong. */
export async function carriersFor({ environment, log }: Context, variables: Variables): Promise<ConfiguredCarriers> {
  const reporting = {
    report: (err: unknown) => log.error({ err }, 'carrier'),
    works: (what: string) => log.warn({ what }, 'works again'),
  }
  const place = { dataDir: environment.DATA_DIR, ...reporting }
  const read = (): Promise<CarrierConfiguration> => readConfiguration(environment.CARRIERS, variables)
  return {
    configuration: await read(),
    read,
    make: (specification, sharing) => makeCarrier(specification, { ...place, sharing }),
  }
}
