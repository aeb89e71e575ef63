import type { Carrier } from '@gateway/core'
import { simulatedCarrier, type SimulatedCarrierSettings } from './simulated-carrier.ts'

interface Parameter {
  readonly setting: 'delayMilliseconds' | 'window' | 'perSecond'
  readonly what: string
  readonly min: number
  readonly max: number
}

const PARAMETERS: Readonly<Record<string, Parameter>> = {
  delayMs: {
    setting: 'delayMilliseconds',
    what: 'milliseconds from a submission to its receipt',
    min: 0,
    max: 86_400_000,
  },
  window: { setting: 'window', what: 'submissions that may be unanswered', min: 1, max: 100_000 },
  perSecond: { setting: 'perSecond', what: 'submissions taken a second', min: 1, max: 1_000_000 },
}

/**
 * The carrier that `simulator:`, with parameters as `simulator:?delayMs=0&window=500`, stands for. Throws an Error that says
 * what is wrong and what there is to choose from.
 */
export const simulatedCarrierFromUrl = (
  url: string,
  place: Pick<SimulatedCarrierSettings, 'folder' | 'id' | 'report'>,
): Carrier => simulatedCarrier({ ...place, ...parametersOf(url) })

/** As `simulatedCarrierFromUrl`, without making it. */
export function parametersOf(url: string): Pick<SimulatedCarrierSettings, Parameter['setting']> {
  const [, query] = /^simulator:(?:\?(.*))?$/s.exec(url) ?? fail(url, 'it does not read simulator:?name=value&…')
  const given = [...new URLSearchParams(query ?? '')]
  const twice = given.find(([name], at) => given.findIndex(([other]) => other === name) < at)
  if (twice !== undefined) fail(url, `${twice[0]} is given twice`)
  return Object.fromEntries(given.map(([name, value]) => settingOf(url, name, value)))
}

function settingOf(url: string, name: string, value: string): [string, number] {
  const parameter = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : undefined
  if (parameter === undefined) return fail(url, `there is no parameter ${JSON.stringify(name)}`)
  const { setting, min, max } = parameter
  if (!/^\d{1,9}$/.test(value) || Number(value) < min || Number(value) > max) {
    return fail(url, `${name} is ${JSON.stringify(value)}`)
  }
  return [setting, Number(value)]
}

function fail(url: string, why: string): never {
  const choices = Object.entries(PARAMETERS).map(
    ([name, { what, min, max }]) => `${name} (${what}, a whole number from ${min} to ${max})`,
  )
  throw new Error(`The carrier ${JSON.stringify(url)} cannot be used: ${why}. Parameters: ${choices.join(', ')}.`)
}
