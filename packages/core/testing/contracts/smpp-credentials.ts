import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import { smppDefaults, type SmppCredentialId, type SmppSettings } from '@gateway/core/smpp-customers'
import { instant } from '@gateway/core/time'
import { aPasswordHash, anAccount, anAccountId } from '../builders.ts'
import { aCredential, aCustomer } from '../smpp.ts'
import { aWebhook } from './webhooks/an-endpoint.ts'
import { concurrentCallers, type Contract } from './shared.ts'

const now = instant(Date.UTC(2026, 10, 27, 8))
const password = aPasswordHash('hash')

const all: SmppSettings = {
  ...{ from: ['192.0.2.0/24', '2001:db8::/32'], binds: 4, window: 20, perSecond: 100 },
  ...{ alphabet0: 'latin1', alphabet1: 'gsm', country: '27', isIdempotent: true, receiptOffsetMinutes: -90 },
} as const

export const smppCredentialsContract: Contract<StoredPorts> = {
  'a credential is listed and found with all its settings, by its account and by the operator only': async (ports) => {
    const { smppCredentials } = ports
    const { account, credential } = await aCustomer(ports, {}, all)
    const other = await anAccount(ports)
    const { id, systemId, created } = credential
    assert.deepEqual(credential, { ...all, id, systemId, created, account: account.id, rotated: undefined })
    assert.deepEqual(await smppCredentials.list(account.id), [credential])
    assert.deepEqual(await smppCredentials.list(undefined), [credential])
    assert.deepEqual(await smppCredentials.list(other.id), [])
    assert.deepEqual(await smppCredentials.find(account.id, id), credential)
    assert.equal(await smppCredentials.find(other.id, id), undefined)
    const plain = await aCredential(ports, other)
    assert.deepEqual({ ...smppDefaults, ...plain }, plain)
  },

  'a system id is unique in any letter case, also for concurrent callers, and finds its credential': async (ports) => {
    const { smppCredentials } = ports
    const account = await anAccount(ports)
    const add = (systemId: string) =>
      smppCredentials.add({ ...smppDefaults, account: account.id, systemId, password }, now)
    const added = await Promise.all(
      Array.from({ length: concurrentCallers }, (_, i) => add(i % 2 === 0 ? 'Acme' : 'aCME')),
    )
    assert.equal(added.filter((one) => one === 'system-id-taken').length, concurrentCallers - 1)
    for (const name of ['bySystemId', 'readSystemId'] as const) {
      const found = await smppCredentials[name]('ACME')
      assert.deepEqual([found?.account.id, found?.password], [account.id, password])
      assert.equal(await smppCredentials[name]('Acm'), undefined)
    }
    const nobody = { ...smppDefaults, account: anAccountId(999_999), systemId: 'x', password }
    assert.equal(await smppCredentials.add(nobody, now), 'no-such-account')
  },

  'changed settings, a lock of the account and a removal are visible in the session at once': async (ports) => {
    const { smppCredentials, accounts } = ports
    const { account, credential } = await aCustomer(ports, {}, { country: '27' })
    const session = () => smppCredentials.session(credential.id)
    assert.deepEqual(await session(), { account, credential })
    const changed = await smppCredentials.change(account.id, credential.id, { window: 3, country: undefined })
    assert.deepEqual(changed, { ...credential, window: 3, country: undefined })
    assert.deepEqual((await session())?.credential, changed)
    await accounts.setLocked(account.id, true)
    assert.equal((await session())?.account.locked, true)
    const other = await anAccount(ports)
    assert.equal(await smppCredentials.change(other.id, credential.id, { window: 4 }), undefined)
    assert.equal(await smppCredentials.remove(other.id, credential.id), false)
    assert.equal(await smppCredentials.remove(undefined, credential.id), true)
    assert.equal(await smppCredentials.remove(undefined, credential.id), false)
    assert.equal(await session(), undefined)
    assert.equal(await smppCredentials.bySystemId(credential.systemId), undefined)
  },

  'a rotated password replaces the old one, and the time is kept': async (ports) => {
    const { smppCredentials } = ports
    const { account, credential } = await aCustomer(ports)
    const next = aPasswordHash('next')
    const other = await anAccount(ports)
    assert.equal(await smppCredentials.rotate(other.id, credential.id, next, now), undefined)
    assert.deepEqual(await smppCredentials.rotate(account.id, credential.id, next, now), {
      ...{ ...credential, rotated: now },
    })
    assert.equal((await smppCredentials.bySystemId(credential.systemId))?.password, next)
    assert.equal(await smppCredentials.rotate(undefined, 999_999 as SmppCredentialId, next, now), undefined)
  },

  'the first credential chooses SMPP for replies, unless an endpoint subscribes to them; the choice ends with the last':
    async (ports) => {
      const { smppCredentials } = ports
      const [a, b] = [await anAccount(ports), await anAccount(ports)]
      await ports.webhooks.add(aWebhook(b.id), now)
      const choices = () => Promise.all([a, b].map(({ id }) => smppCredentials.repliesBy(id)))
      assert.deepEqual(await choices(), ['webhook', 'webhook'])
      assert.equal(await smppCredentials.setRepliesBy(a.id, 'smpp'), false)
      const credentials = [await aCredential(ports, a), await aCredential(ports, a)]
      await aCredential(ports, b)
      assert.deepEqual(await choices(), ['smpp', 'webhook'])
      assert.equal(await smppCredentials.setRepliesBy(a.id, 'polling'), true)
      for (const { id } of credentials) {
        assert.deepEqual(await choices(), ['polling', 'webhook'])
        await smppCredentials.remove(a.id, id)
      }
      assert.deepEqual(await choices(), ['webhook', 'webhook'])
    },
}
