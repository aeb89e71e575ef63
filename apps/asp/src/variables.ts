import { gatewayDefaults, parseSenderAddress, type GatewaySettings, type SenderAddress } from '@gateway/core'
import { listOf, wholeNumber } from '@gateway/server'

interface GatewayVariables {
  readonly SENDERS: ReturnType<typeof listOf<SenderAddress>>
  readonly REPLIES_PER_CALL: ReturnType<typeof wholeNumber>
}

/** What this interface reads beside what every server reads. */
export const gatewayVariables: GatewayVariables = {
  SENDERS: listOf({
    what: 'addresses that messages leave from, each of 3 to 15 digits',
    read: parseSenderAddress,
    byDefault: gatewayDefaults.senders,
  }),
  REPLIES_PER_CALL: wholeNumber({
    what: 'messages that one return-once call returns',
    min: 1,
    max: 100_000,
    byDefault: gatewayDefaults.takenMax,
  }),
}

export const gatewaySettings = (environment: {
  readonly SENDERS: readonly SenderAddress[]
  readonly REPLIES_PER_CALL: number
}): GatewaySettings => ({ senders: environment.SENDERS, takenMax: environment.REPLIES_PER_CALL })
