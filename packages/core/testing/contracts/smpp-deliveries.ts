import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { Account } from '@gateway/core/accounts'
import type { Handover } from '@gateway/core/dispatch'
import { INCIDENT, OUTCOME, type MessageId, type SendOptions } from '@gateway/core/messages'
import type { DeliveryVerdict, SmppCredential, SmppDelivery, SmppOptions } from '@gateway/core/smpp-customers'
import { aNumber, anAddress, anOrder, numbers } from '../builders.ts'
import { aBind, aCredential, aCustomer, aPart, aProcess } from '../smpp.ts'
import { aReceipt } from './delivery-receipts/sent-messages.ts'
import { anInboundMessage, receive } from './inbox/inbound-messages.ts'
import { accepted, at, codesOf, dispatchDue, farAhead, longAgo, type Contract } from './shared.ts'

/** Accepts one message per registered_delivery, submitted over SMPP, and returns the ids. */
async function submitted(ports: StoredPorts, account: Account, options: readonly Partial<SmppOptions>[], fields = {}) {
  const [credential] = await ports.smppCredentials.list(account.id)
  assert.ok(credential !== undefined)
  const ids: MessageId[] = []
  for (const one of options) {
    const smpp = { credential: credential.id, ...one }
    const order = anOrder(account.id, { to: [aNumber()], smpp, ...fields } satisfies SendOptions & { to: unknown })
    ids.push(...(await accepted(ports, order)).ids)
  }
  return ids
}

const dispatch = (ports: StoredPorts, handover: Handover = { outcome: 'refused' }) =>
  dispatchDue(ports, 'single', () => handover)

/** Opens a receiving bind and returns a function that claims for it. */
async function receiver(ports: StoredPorts, { account, id: credential }: SmppCredential, process = aProcess()) {
  const bind = aBind(process, 'receiver')
  assert.equal(await ports.smppBinds.open(credential, bind), 'opened')
  const claim = (room = 100, leaseSeconds = 600) =>
    ports.smppDeliveries.claim({ process, receivers: [{ account, credential, room }], leaseSeconds })
  const settle = (deliveries: readonly SmppDelivery[], verdict: DeliveryVerdict, pauseSeconds = 0) =>
    ports.smppDeliveries.settle(
      process,
      deliveries.map(({ id, tries }) => ({ id, tries, verdict, pauseSeconds })),
    )
  return { bind, process, claim, settle }
}

const codes = (deliveries: readonly SmppDelivery[]) =>
  deliveries.map((one) => (one.kind === 'reply' ? one.text : `${one.kind} ${one.message} ${one.code}`))

/** Contract of the port `SmppDeliveries`, and of the ports that store deliveries. */
export const smppDeliveriesContract: Contract<StoredPorts> = {
  'registered_delivery decides which outcomes have a receipt': async (ports) => {
    const { account, credential } = await aCustomer(ports)
    const bits = [undefined, 1, 2, 3, 16, 17, 18, 19]
    const ids = await submitted(
      ports,
      account,
      bits.map((receipts) => ({ receipts })),
    )
    await dispatch(ports)
    const { claim } = await receiver(ports, credential)
    assert.deepEqual(
      codes(await claim()),
      [1, 2, 5, 6].map((i) => `receipt ${at(ids, i)} ${OUTCOME.refused}`),
    )
  },

  'a delivered message has a receipt for success, and notifications come before it, one at a time': async (ports) => {
    const { account, credential } = await aCustomer(ports)
    const ids = await submitted(ports, account, [{ receipts: 3 }, { receipts: 19 }, { receipts: 2 }])
    await dispatchDue(ports, 'single', ({ id }) => ({ outcome: 'accepted', reference: `r${id}` }))
    for (const id of ids) await ports.deliveryReceipts.apply([aReceipt(`r${id}`, OUTCOME.delivered)])
    const { claim, settle } = await receiver(ports, credential)
    const first = await claim()
    assert.deepEqual(codes(first).sort(), [
      `notification ${at(ids, 1)} ${OUTCOME.sent}`,
      `receipt ${at(ids, 0)} ${OUTCOME.delivered}`,
    ])
    assert.deepEqual(await claim(), [])
    await settle(first, 'delivered')
    assert.deepEqual(codes(await claim()), [`receipt ${at(ids, 1)} ${OUTCOME.delivered}`])
  },

  'a receipt has all fields that its text needs': async (ports) => {
    const { account, credential } = await aCustomer(ports)
    const smpp = {
      ...{ credential: credential.id, receipts: 1, source: { address: 'Acme', ton: 5, npi: 0 } },
      destination: { ton: 1, npi: 1 },
    }
    const [id] = await submitted(ports, account, [smpp])
    await dispatch(ports)
    const { claim } = await receiver(ports, credential)
    const [receipt] = await claim()
    assert.ok(receipt?.kind === 'receipt')
    const { id: _, submitted: accepted, at: ended, smpp: stored, ...rest } = receipt
    assert.ok(accepted > longAgo && ended >= accepted)
    assert.deepEqual({ ...stored, parts: undefined }, { ...smpp, parts: undefined })
    assert.deepEqual(rest, {
      ...{
        kind: 'receipt',
        message: id,
        number: aNumber(),
        from: anAddress(),
        code: OUTCOME.refused,
        isAccepted: false,
      },
      ...{ account: account.id, credential: credential.id, tries: 1 },
    })
  },

  'messages of other interfaces, and accounts without a credential, have no receipts': async (ports) => {
    const { account, credential } = await aCustomer(ports)
    await accepted(ports, anOrder(account.id, { to: numbers(2) }))
    const gone = await aCustomer(ports)
    await submitted(ports, gone.account, [{ receipts: 1 }])
    await ports.smppCredentials.remove(undefined, gone.credential.id)
    await dispatch(ports)
    const { claim } = await receiver(ports, credential)
    assert.deepEqual(await claim(), [])
    assert.deepEqual(await ports.smppDeliveries.waiting(undefined), { receipts: 0, replies: 0, oldest: undefined })
  },

  'a deleted, an expired and a late outcome have their receipts': async (ports) => {
    const { account, credential } = await aCustomer(ports)
    const [later] = await submitted(ports, account, [{ receipts: 1 }], { due: farAhead })
    assert.ok(later !== undefined)
    await ports.messages.deleteScheduled(account.id, [later, later], longAgo)
    const [old] = await submitted(ports, account, [{ receipts: 1 }], { validity: -1 })
    await ports.claimedBatches.expire(3600, 10)
    const [unknown] = await submitted(ports, account, [{ receipts: 17 }])
    await dispatch(ports, { outcome: 'unknown' })
    const { claim } = await receiver(ports, credential)
    assert.deepEqual(codes(await claim()), [
      `receipt ${later} ${OUTCOME.cancelled}`,
      `receipt ${String(old)} ${OUTCOME.expired}`,
      `notification ${String(unknown)} ${OUTCOME.unknown}`,
    ])
    assert.deepEqual(await codesOf(ports, account.id, [later]), [OUTCOME.cancelled])
  },

  'every part has the receipt that it requested, under its own id, joined, refused or expired': async (ports) => {
    const { account, credential } = await aCustomer(ports)
    const [a, b, c] = numbers(3)
    assert.ok(a !== undefined && b !== undefined && c !== undefined)
    const add = async (number: typeof a, part: number, receipts?: number) => {
      const added = await ports.smppParts.add(
        aPart(credential, [part, 2], { number, ...(receipts !== undefined && { receipts }) }),
        100,
      )
      if (typeof added === 'string') return assert.fail(added)
      await added.whole
      return added.id
    }
    const joined = [await add(a, 1, 1), await add(a, 2, 2)]
    const refused = [await add(b, 1, 1), await add(b, 2)]
    const expired = [await add(c, 1, 1)]
    const parts = [
      { id: at(joined, 0), receipts: 1 },
      { id: at(joined, 1), receipts: 2 },
    ]
    const order = anOrder(account.id, { to: [a], smpp: { credential: credential.id, parts } })
    assert.equal(await ports.smppParts.join(joined, order), 'joined')
    await ports.smppParts.refuse(refused, OUTCOME.optedOut)
    await ports.smppParts.expire(-1, 10)
    await dispatch(ports)
    const { claim } = await receiver(ports, credential)
    const receipts = await claim()
    assert.deepEqual(codes(receipts), [
      `receipt ${at(refused, 0)} ${OUTCOME.optedOut}`,
      `receipt ${at(expired, 0)} ${OUTCOME.expired}`,
      `receipt ${at(joined, 0)} ${OUTCOME.refused}`,
      `receipt ${at(joined, 1)} ${OUTCOME.refused}`,
    ])
    for (const one of receipts) assert.ok(one.kind === 'receipt' && one.submitted > longAgo)
  },

  'a receipt goes to a receiving bind of its credential, else of its account, and never to another account': async (
    ports,
  ) => {
    const { account, credential } = await aCustomer(ports)
    const second = await aCredential(ports, account)
    const stranger = await aCustomer(ports)
    await submitted(ports, account, [{ receipts: 1 }])
    await dispatch(ports)
    const other = await receiver(ports, stranger.credential)
    assert.deepEqual(await other.claim(), [])
    const ofSecond = await receiver(ports, second)
    const own = await receiver(ports, credential)
    assert.deepEqual(await ofSecond.claim(), [])
    const [first] = await own.claim()
    assert.ok(first !== undefined)
    await own.settle([first], 'retry')
    await ports.smppBinds.close(own.process, [own.bind.id])
    const [again] = await ofSecond.claim()
    assert.deepEqual([again?.id, again?.tries, again?.credential], [first.id, 2, credential.id])
  },

  'of concurrent claims each delivery goes to one, and only the process that claimed it settles it': async (ports) => {
    const { account, credential } = await aCustomer(ports, {}, { binds: 10 })
    const ids = await submitted(
      ports,
      account,
      Array.from({ length: 40 }, () => ({ receipts: 1 })),
    )
    await dispatch(ports)
    const receivers = []
    for (let i = 0; i < 4; i++) receivers.push(await receiver(ports, credential))
    const claims = await Promise.all(receivers.flatMap(({ claim }) => [claim(5), claim(5), claim(5)]))
    const claimed = claims.flat()
    assert.equal(new Set(claimed.map(({ id }) => id)).size, claimed.length)
    const rest = await at(receivers, 0).claim()
    assert.equal(claimed.length + rest.length, ids.length)
    await at(receivers, 1).settle(rest, 'delivered')
    const { receipts } = await ports.smppDeliveries.waiting(account.id)
    assert.equal(receipts, ids.length)
    await at(receivers, 0).settle(rest, 'delivered')
    await at(receivers, 0).settle(rest, 'delivered')
    assert.equal((await ports.smppDeliveries.waiting(account.id)).receipts, ids.length - rest.length)
  },

  'a delivery that was refused for now, not sent, or whose lease has ended is offered again': async (ports) => {
    const { account, credential } = await aCustomer(ports)
    await submitted(ports, account, [{ receipts: 1 }])
    await dispatch(ports)
    const { claim, settle } = await receiver(ports, credential)
    const first = await claim(1, -1)
    assert.deepEqual([first.length, at(first, 0).tries], [1, 1])
    const second = await claim()
    assert.deepEqual(at(second, 0).tries, 2)
    await settle(first, 'delivered')
    await settle(second, 'unsent')
    const third = await claim()
    assert.deepEqual(at(third, 0).tries, 2)
    await settle(third, 'retry', 600)
    assert.deepEqual(await claim(), [])
    assert.equal((await ports.smppDeliveries.waiting(account.id)).receipts, 1)
  },

  'a refused delivery and a dropped one are removed, and the trace of the message says so': async (ports) => {
    const { account, credential } = await aCustomer(ports)
    const ids = await submitted(ports, account, [{ receipts: 1 }, { receipts: 1 }])
    await dispatch(ports)
    const { claim, settle } = await receiver(ports, credential)
    await settle(await claim(1), 'refused')
    assert.equal(await ports.smppDeliveries.drop(72, 10), 0)
    assert.equal(await ports.smppDeliveries.drop(-1, 10), 1)
    assert.equal(await ports.smppDeliveries.drop(-1, 10), 0)
    const traces = await Promise.all(ids.map((id) => ports.sentMessages.trace(id)))
    assert.deepEqual(
      traces.map((trace) => trace?.incidents.map((incident) => incident.name)),
      [[INCIDENT.deliveryRefused], [INCIDENT.deliveryDropped]],
    )
    assert.equal((await ports.smppDeliveries.waiting(account.id)).receipts, 0)
  },

  'a reply is delivered to the receiving binds of its account if the account chose SMPP, and stays in its inbox':
    async (ports) => {
      const { account, credential } = await aCustomer(ports)
      await ports.senders.assign(anAddress('40404'), account.id)
      const reply = (text: string) => receive(ports, { to: '40404', text })
      await reply('over SMPP')
      for (const by of ['polling', 'webhook', 'smpp'] as const) {
        await ports.smppCredentials.setRepliesBy(account.id, by)
        await reply(by)
      }
      const { claim } = await receiver(ports, credential)
      const replies = await claim()
      assert.deepEqual(codes(replies), ['over SMPP', 'smpp'])
      const {
        kind,
        from,
        to,
        account: owner,
        credential: submitter,
      } = at(replies, 0) as SmppDelivery & { kind: 'reply' }
      assert.deepEqual(
        [kind, from, to, owner, submitter],
        ['reply', anInboundMessage().from, '40404', account.id, undefined],
      )
      assert.equal((await ports.inbox.take(account.id, 'all', longAgo, 10)).messages.length, 4)
      assert.deepEqual((await ports.smppDeliveries.waiting(account.id)).replies, 2)
    },

  'a reply goes to the credential that submitted the answered message, and to another one if that is not bound': async (
    ports,
  ) => {
    const { account, credential } = await aCustomer(ports)
    const second = await aCredential(ports, account)
    await submitted(ports, account, [{}])
    await dispatch(ports, { outcome: 'accepted', reference: 'r' })
    await receive(ports, { from: aNumber(), text: 'yes' })
    const own = await receiver(ports, credential)
    const ofSecond = await receiver(ports, second)
    assert.deepEqual(await ofSecond.claim(), [])
    const [first] = await own.claim()
    assert.ok(first?.kind === 'reply')
    assert.deepEqual([first.text, first.credential], ['yes', credential.id])
    await own.settle([first], 'retry')
    await ports.smppBinds.close(own.process, [own.bind.id])
    assert.deepEqual(codes(await ofSecond.claim()), ['yes'])
  },

  'the trace of a message names the credential that submitted it, also after its removal': async (ports) => {
    const { account, credential } = await aCustomer(ports)
    const ids = await submitted(ports, account, [{ remote: '192.0.2.7' }, {}])
    const { ids: others } = await accepted(ports, anOrder(account.id, { to: numbers(1) }))
    const bindOf = async (message: MessageId) => (await ports.sentMessages.trace(message))?.bind
    const { id: by, systemId } = credential
    assert.deepEqual(await bindOf(at(ids, 0)), { credential: by, systemId, remote: '192.0.2.7' })
    assert.deepEqual(await bindOf(at(ids, 1)), { credential: by, systemId, remote: undefined })
    assert.equal(await bindOf(at(others, 0)), undefined)
    await ports.smppCredentials.remove(undefined, by)
    assert.deepEqual(await bindOf(at(ids, 1)), { credential: by, systemId: undefined, remote: undefined })
  },
}
