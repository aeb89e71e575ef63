import { strict as assert } from 'node:assert'
import { randomUUID } from 'node:crypto'
import type { StoredPorts } from '@gateway/core'
import type { Account } from '@gateway/core/accounts'
import { receiptBitsMask, smppDefaults } from '@gateway/core/smpp-customers'
import type {
  BindId,
  BindMode,
  NewBind,
  NewPart,
  SmppCredential,
  SmppProcessId,
  SmppSettings,
} from '@gateway/core/smpp-customers'
import { defaultSenders } from '@gateway/core/messages'
import { aNumber, aPasswordHash, anAccount, type AccountOptions } from './builders.ts'
import { realClock } from './memory/clock.ts'

let added = 0

/** Adds a credential to an account, with a system id of its own. */
export async function aCredential(
  { smppCredentials }: Pick<StoredPorts, 'smppCredentials'>,
  account: Account,
  settings: Partial<SmppSettings> = {},
): Promise<SmppCredential> {
  const credential = await smppCredentials.add(
    {
      ...{ ...smppDefaults, ...settings },
      ...{ account: account.id, systemId: `Esme${++added}`, password: aPasswordHash('hash') },
    },
    realClock().now(),
  )
  return typeof credential === 'string' ? assert.fail(`no credential was added: ${credential}`) : credential
}

/** Opens an account with a credential. */
export async function aCustomer(
  ports: Pick<StoredPorts, 'accounts' | 'smppCredentials'>,
  options: AccountOptions = {},
  settings: Partial<SmppSettings> = {},
) {
  const account = await anAccount(ports, options)
  return { account, credential: await aCredential(ports, account, settings) }
}

export const aProcess = (): SmppProcessId => randomUUID() as SmppProcessId

export const aBind = (process: SmppProcessId, mode: BindMode = 'transceiver'): NewBind => ({
  ...{ id: randomUUID() as BindId, process, mode },
  ...{ remote: '192.0.2.7', version: 0x34 },
})

/** Returns part `part` of `total` of a text, with the given characters of GSM 7-bit. */
export function aPart(
  { account, id: credential }: SmppCredential,
  [part, total]: readonly [part: number, total: number],
  changes: Partial<NewPart> & { readonly text?: string; readonly receipts?: number } = {},
): NewPart {
  const { text = `part ${part} `, receipts, ...others } = changes
  return {
    ...{ account, number: aNumber(), sender: undefined, senders: defaultSenders, reference: '8:17', part, total },
    coded: { coding: 'gsm-7', octets: Buffer.from(text).toString('hex') },
    scheduled: undefined,
    options: { smpp: { credential, ...(receipts !== undefined && { receipts: receipts & receiptBitsMask }) } },
    ...others,
  }
}
