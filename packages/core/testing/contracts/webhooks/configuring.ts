import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import { webhooksMax, type SealedSecret, type SigningSecrets, type WebhookId } from '@gateway/core/webhooks'
import { anAccount, anAccountId } from '../../builders.ts'
import { concurrentCallers, longAgo, type Contract } from '../shared.ts'
import { added, aWebhook } from './an-endpoint.ts'

const other = 'other' as SealedSecret

/** Returns a change that makes `next` the current secret and keeps the present secrets as previous ones. */
const followedBy =
  (next: SealedSecret) =>
  ({ secret, previous }: SigningSecrets): SigningSecrets => ({
    secret: next,
    previous: [{ secret, until: longAgo }, ...previous],
  })

export const configuring: Contract<StoredPorts> = {
  'an endpoint is found as added, only by its account and the operator': async (ports) => {
    const { webhooks } = ports
    const [a, b] = [await anAccount(ports), await anAccount(ports)]
    const newWebhook = aWebhook(a.id, { events: ['message.sent', 'optout.removed'], listSize: 7, withText: true })
    const one = await added(ports, newWebhook)
    assert.deepEqual(one, {
      ...newWebhook,
      id: one.id,
      state: 'active',
      pausedFor: undefined,
      created: longAgo,
      failingSince: undefined,
      previous: [],
    })
    const two = await added(ports, aWebhook(b.id))
    assert.deepEqual(await webhooks.find(a.id, one.id), one)
    assert.deepEqual(await webhooks.find(undefined, one.id), one)
    assert.equal(await webhooks.find(b.id, one.id), undefined)
    assert.deepEqual(await webhooks.list(a.id), [one])
    assert.deepEqual(await webhooks.list(undefined), [one, two])
    for (const id of [b.id, anAccountId(2_000_000)]) {
      assert.equal(await webhooks.change(id, one.id, { listSize: 1 }, longAgo), undefined)
      assert.equal(await webhooks.rotate(id, one.id, followedBy(other)), undefined)
      assert.equal(await webhooks.remove(id, one.id), false)
      assert.equal(await webhooks.addTest(id, one.id, longAgo), undefined)
      assert.equal(await webhooks.startReplay(id, one.id, { kind: 'dead' }), undefined)
      assert.equal(await webhooks.attempts(id, one.id, { offset: 0, limit: 1 }), undefined)
    }
    assert.deepEqual(await webhooks.find(a.id, one.id), one)
    assert.equal(await webhooks.remove(a.id, one.id), true)
    assert.equal(await webhooks.remove(a.id, one.id), false)
    assert.deepEqual(await webhooks.list(a.id), [])
  },

  'no endpoint is added for an unknown account': async ({ webhooks }) => {
    assert.equal(await webhooks.add(aWebhook(anAccountId(2_000_000)), longAgo), 'no-such-account')
    assert.equal(await webhooks.find(undefined, 9 as WebhookId), undefined)
  },

  'concurrent additions never exceed the maximum of an account': async (ports) => {
    const { id } = await anAccount(ports)
    const all = await Promise.all(
      Array.from({ length: concurrentCallers }, () => ports.webhooks.add(aWebhook(id), longAgo)),
    )
    assert.equal(all.filter((one) => one === 'too-many').length, concurrentCallers - webhooksMax)
    assert.equal((await ports.webhooks.list(id)).length, webhooksMax)
  },

  'a change affects only the fields that it names, and pauses and resumes': async (ports) => {
    const { webhooks } = ports
    const { id } = await anAccount(ports)
    const one = await added(ports, aWebhook(id))
    const url = 'https://example.org/'
    assert.deepEqual(await webhooks.change(id, one.id, { url, events: ['reply.received'] }, longAgo), {
      ...one,
      url,
      events: ['reply.received'],
    })
    const changed = await webhooks.change(undefined, one.id, { listSize: 1, withText: true, state: 'paused' }, longAgo)
    const paused = {
      ...one,
      url,
      events: ['reply.received'],
      listSize: 1,
      withText: true,
      state: 'paused',
      pausedFor: 'by-request',
    }
    assert.deepEqual(changed, paused)
    assert.deepEqual(await webhooks.change(id, one.id, {}, longAgo), paused)
    const resumed = { ...paused, state: 'active', pausedFor: undefined }
    assert.deepEqual(await webhooks.change(id, one.id, { state: 'active' }, longAgo), resumed)
    assert.deepEqual(await webhooks.find(id, one.id), resumed)
  },

  'secrets are replaced by the result of the change function': async (ports) => {
    const { webhooks } = ports
    const { id } = await anAccount(ports)
    const one = await added(ports, aWebhook(id))
    const rotated = { ...one, secret: other, previous: [{ secret: one.secret, until: longAgo }] }
    assert.deepEqual(await webhooks.rotate(id, one.id, followedBy(other)), rotated)
    assert.deepEqual(await webhooks.find(id, one.id), rotated)
    const ended = { ...one, secret: one.secret, previous: [] }
    const back = ({ previous }: SigningSecrets) => ({ secret: previous[0]?.secret ?? other, previous: [] })
    assert.deepEqual(await webhooks.rotate(undefined, one.id, back), ended)
    assert.deepEqual(await webhooks.find(id, one.id), ended)
  },

  'concurrent changes of the secrets all apply, one after the other': async (ports) => {
    const { webhooks } = ports
    const { id } = await anAccount(ports)
    const one = await added(ports, aWebhook(id))
    const names = Array.from({ length: concurrentCallers }, (_, i) => `secret ${i}` as SealedSecret)
    await Promise.all(names.map((name) => webhooks.rotate(id, one.id, followedBy(name))))
    const { secret, previous } = (await webhooks.find(id, one.id)) ?? assert.fail()
    const all = [secret, ...previous.map((before) => before.secret)]
    assert.equal(all.pop(), one.secret)
    assert.deepEqual(all.toSorted(), names.toSorted())
  },

  'the latest secret is that of the last addition, rotation or resealing': async (ports) => {
    const { webhooks } = ports
    const { id } = await anAccount(ports)
    const named = (name: string) => name as SealedSecret
    assert.equal(await webhooks.lastSecret(), undefined)
    const one = await added(ports, aWebhook(id, { secret: named('first') }))
    assert.equal(await webhooks.lastSecret(), 'first')
    const two = await added(ports, aWebhook(id, { secret: named('second') }))
    assert.equal(await webhooks.lastSecret(), 'second')
    await webhooks.rotate(id, one.id, followedBy(named('third')))
    await webhooks.change(id, two.id, { state: 'paused' }, longAgo)
    assert.equal(await webhooks.lastSecret(), 'third')
    await webhooks.resealSecrets((sealed) => (sealed === 'second' ? named('again') : sealed))
    assert.equal(await webhooks.lastSecret(), 'again')
    await webhooks.remove(id, two.id)
    assert.equal(await webhooks.lastSecret(), 'third')
  },

  'resealing replaces every stored secret that the function changes': async (ports) => {
    const { webhooks } = ports
    const { id } = await anAccount(ports)
    const one = await added(ports, aWebhook(id, { secret: 'new' as SealedSecret }))
    const two = await added(ports, aWebhook(id))
    await webhooks.rotate(id, two.id, followedBy('new' as SealedSecret))
    const again = (sealed: SealedSecret) => (sealed === 'sealed' ? other : sealed)
    assert.equal(await webhooks.resealSecrets(again), 1)
    assert.equal(await webhooks.resealSecrets(again), 0)
    assert.equal((await webhooks.find(id, one.id))?.secret, 'new')
    assert.equal((await webhooks.find(id, two.id))?.previous[0]?.secret, other)
  },
}
