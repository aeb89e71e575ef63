import { readFileSync } from 'node:fs'
import { compileProvider, type Provider } from './description/provider.ts'
import type { HttpDescription } from './description/schema.ts'

/** Names of the providers whose descriptions are shipped. */
export const providerNames = [
  ...['twilio', 'vonage', 'infobip', 'plivo', 'telnyx', 'sinch', 'africastalking', 'messagebird', 'bulksms', '46elks'],
  ...['textbee', 'smsgate', 'gateway'],
] as const

export type ProviderName = (typeof providerNames)[number]

const loaded = new Map<ProviderName, Provider>()

/** Returns a shipped provider, whose description is read at its first use. */
export function shippedProvider(name: ProviderName): Provider {
  const known = loaded.get(name)
  if (known !== undefined) return known
  const text = readFileSync(new URL(`../providers/${name}.json`, import.meta.url), 'utf8')
  const provider = compileProvider(JSON.parse(text) as HttpDescription)
  loaded.set(name, provider)
  return provider
}

export const isShipped = (name: string): name is ProviderName => providerNames.some((each) => each === name)
