import { africastalking } from './africastalking.ts'
import { bulksms } from './bulksms.ts'
import { elks46 } from './elks46.ts'
import { gateway } from './gateway.ts'
import { infobip } from './infobip.ts'
import { messagebird } from './messagebird.ts'
import { plivo } from './plivo.ts'
import type { ProviderFormat } from './provider.ts'
import { sinch } from './sinch.ts'
import { smsgate } from './smsgate.ts'
import { telnyx } from './telnyx.ts'
import { textbee } from './textbee.ts'
import { twilio } from './twilio.ts'
import { vonage } from './vonage.ts'

/** Simulated providers, by the names that documents of carriers use. */
export const httpProviders = {
  ...{ twilio, vonage, infobip, plivo, telnyx, sinch, africastalking, messagebird, bulksms },
  ...{ '46elks': elks46, textbee, smsgate, gateway },
} as const satisfies Readonly<Record<string, ProviderFormat>>

export type HttpProviderName = keyof typeof httpProviders

export const isHttpProvider = (name: string): name is HttpProviderName => Object.hasOwn(httpProviders, name)
