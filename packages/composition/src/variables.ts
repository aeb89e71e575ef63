import {
  confirmationOf,
  defaultConfirmation,
  gatewayDefaults,
  parseSenderAddress,
  processingDefaults,
  type GatewaySettings,
  type ProcessingSettings,
  type SenderAddress,
} from '@gateway/core'
import { listOf, text, wholeNumber } from '@gateway/server/configuration'

/** The addresses that messages of accounts without a code leave from. */
export const SENDERS: ReturnType<typeof listOf<SenderAddress>> = listOf({
  what: 'addresses that messages leave from, each of 3 to 15 digits',
  read: parseSenderAddress,
  byDefault: gatewayDefaults.senders,
})

interface GatewayVariables {
  readonly SENDERS: typeof SENDERS
  readonly REPLIES_PER_CALL: ReturnType<typeof wholeNumber>
}

/** What a process reads that works for account holders. */
export const gatewayVariables: GatewayVariables = {
  SENDERS,
  REPLIES_PER_CALL: wholeNumber('messages that one return-once call returns', {
    min: 1,
    max: 100_000,
    byDefault: gatewayDefaults.takenMax,
  }),
}

export interface GatewayEnvironment {
  readonly SENDERS: readonly SenderAddress[]
  readonly REPLIES_PER_CALL: number
}

export const gatewaySettings = (environment: GatewayEnvironment): GatewaySettings => ({
  senders: environment.SENDERS,
  takenMax: environment.REPLIES_PER_CALL,
})

type ProcessingVariables = Readonly<{
  OPTOUT_CONFIRMATION: ReturnType<typeof text>
  CONTACT_DAYS: ReturnType<typeof wholeNumber>
}>

/** What a process reads that receives replies or drops history. */
export const processingVariables: ProcessingVariables = {
  OPTOUT_CONFIRMATION: {
    ...text({ what: 'a text that can be sent: not blank, and not too long', byDefault: defaultConfirmation }),
    _parse: (input: string) => confirmationOf(input).text,
  },
  CONTACT_DAYS: wholeNumber('days for which it is remembered who wrote last to a number', {
    min: 1,
    max: 3650,
    byDefault: processingDefaults.contactDays,
  }),
}

export const processingSettings = (environment: {
  readonly OPTOUT_CONFIRMATION: string
  readonly CONTACT_DAYS: number
}): ProcessingSettings => ({
  confirmation: confirmationOf(environment.OPTOUT_CONFIRMATION),
  contactDays: environment.CONTACT_DAYS,
})
