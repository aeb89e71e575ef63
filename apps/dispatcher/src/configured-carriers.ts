import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import {
  agreeOnCarriers,
  makeCarrier,
  readConfiguration,
  type AgreedCarriers,
  type CarrierConfiguration,
  type AgreementPorts,
  type CarrierSpecification,
  type Place,
  type Variables,
} from '@gateway/carriers'
import type { Carrier } from '@gateway/core/dispatch'
import type { ReportingProcess } from '@gateway/core/fleet'
import type { Log } from '@gateway/server'

/** Carriers configured by `CARRIERS`, and how to create them. */
export interface ConfiguredCarriers {
  /** Configuration read from `CARRIERS`; undefined if it is not set. */
  readonly configuration: CarrierConfiguration | undefined
  /** Reads the carrier file again; undefined if `CARRIERS` names no file. */
  readonly readAgain: (() => Promise<CarrierConfiguration>) | undefined
  readonly make: (specification: CarrierSpecification, place: Pick<Place, 'sharing' | 'clock'>) => Carrier
}

interface Context {
  readonly environment: { readonly CARRIERS: string; readonly DATA_DIR: string }
  readonly log: Pick<Log, 'error' | 'warn'>
}

/**
 * Reads the carriers of the environment; `variables` holds the secrets that a carrier file refers to. Throws an Error
 * that describes the problem.
 */
export async function carriersFor({ environment, log }: Context, variables: Variables): Promise<ConfiguredCarriers> {
  const reporting = {
    report: (err: unknown) => log.error({ err }, 'a carrier reported a problem'),
    works: (name: string) => log.warn({ what: name }, 'a carrier works again'),
  }
  const place = { dataDir: environment.DATA_DIR, ...reporting }
  const read = (): Promise<CarrierConfiguration> => readConfiguration(environment.CARRIERS, variables)
  const configuration = environment.CARRIERS === '' ? undefined : await read()
  return {
    configuration,
    readAgain: configuration?.file === undefined ? undefined : read,
    make: (specification, further) => makeCarrier(specification, { ...place, ...further }),
  }
}

/** Id, host and pid of this process, as operators and other processes see it. */
const thisProcess = (): ReportingProcess => ({ id: randomUUID(), host: hostname(), pid: process.pid })

/**
 * Agrees with the other processes on the carriers to use from now on. Throws an Error for the operator if they use
 * different ones.
 */
export const agreeWithOthers = (
  ports: AgreementPorts,
  { configuration }: ConfiguredCarriers,
  { LEASE_SECONDS: leaseSeconds }: { readonly LEASE_SECONDS: number },
): Promise<AgreedCarriers> =>
  agreeOnCarriers(ports, { configured: configuration, process: thisProcess(), leaseSeconds })
