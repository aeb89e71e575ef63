import { gatewayDefaults, parseSenderAddress, type GatewaySettings, type SenderAddress } from '@gateway/core'
import { listOf, wholeNumber } from '@gateway/server'

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
  REPLIES_PER_CALL: wholeNumber({
    what: 'messages that one return-once call returns',
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
