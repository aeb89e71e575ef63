import type { CarrierConfiguration, CarrierPorts } from '@gateway/carriers'
import type { CarrierUser, CarrierVersion } from '@gateway/core'
import { Refused } from './context.ts'
import type { Json } from './output.ts'

/** What a version says. Throws a Refused if it cannot be read with the keys of this command. */
export async function openVersion(version: CarrierVersion, ports: CarrierPorts): Promise<CarrierConfiguration> {
  const { openCarriers } = await import('@gateway/carriers')
  return openCarriers(version, ports).catch((problem: unknown) => {
    const { message } = problem as Error
    throw new Refused(message.charAt(0).toUpperCase() + message.slice(1))
  })
}

export const userJson = ({ process: { host, pid }, version }: CarrierUser): Json => ({
  host,
  pid,
  carriersVersion: version,
})
