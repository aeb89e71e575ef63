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

/** What `CARRIERS` says, and how to make a carrier. */
export interface ConfiguredCarriers {
  /** Undefined: it is not set. */
  readonly given: CarrierConfiguration | undefined
  /** Reads it again; undefined: it names no file. */
  readonly readAgain: (() => Promise<CarrierConfiguration>) | undefined
  readonly make: (specification: CarrierSpecification, place: Pick<Place, 'sharing' | 'clock'>) => Carrier
}

interface Context {
  readonly environment: { readonly CARRIERS: string; readonly DATA_DIR: string }
  readonly log: Pick<Log, 'error' | 'warn'>
}

/**
 * The carriers of the environment; `variables` has the secrets that a file of carriers names. Throws an Error that says
 * what is wrong.
 */
export async function carriersFor({ environment, log }: Context, variables: Variables): Promise<ConfiguredCarriers> {
  const reporting = {
    report: (err: unknown) => log.error({ err }, 'carrier'),
    works: (what: string) => log.warn({ what }, 'works again'),
  }
  const place = { dataDir: environment.DATA_DIR, ...reporting }
  const read = (): Promise<CarrierConfiguration> => readConfiguration(environment.CARRIERS, variables)
  const given = environment.CARRIERS === '' ? undefined : await read()
  return {
    given,
    readAgain: given?.file === undefined ? undefined : read,
    make: (specification, further) => makeCarrier(specification, { ...place, ...further }),
  }
}

/** This run of this process, as operators and other processes know it. */
const thisProcess = (): ReportingProcess => ({ id: randomUUID(), host: hostname(), pid: process.pid })

/** What this process works with from now on, as all others do. Throws an Error for the operator where they disagree. */
export const agreeWithOthers = (
  ports: AgreementPorts,
  { given }: ConfiguredCarriers,
  { LEASE_SECONDS: leaseSeconds }: { readonly LEASE_SECONDS: number },
): Promise<AgreedCarriers> => agreeOnCarriers(ports, { given, process: thisProcess(), leaseSeconds })
