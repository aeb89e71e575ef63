import { strict as assert } from 'node:assert'
import { createHash } from 'node:crypto'
import type { StoredPorts } from '@gateway/core'
import type { AuditSequence } from '@gateway/core/audit'
import { anAccount } from '../builders.ts'
import { concurrentCallers, collect, type Contract } from './shared.ts'
import { auditHashInput, auditHashOfNothing } from './specification/audit-log.ts'

const actor = { by: 'ann@alpha', from: 'command line' }

export const auditLogContract: Contract<StoredPorts> = {
  'an empty log is intact': async ({ auditLog }) => {
    assert.deepEqual(await auditLog.check(), { entries: 0, hash: auditHashOfNothing, broken: undefined })
    assert.deepEqual(await auditLog.list({}, 10), [])
    assert.deepEqual(await collect(auditLog.entries()), [])
  },

  'a change is listed without an outcome first, and later with it': async ({ auditLog }) => {
    const sequence = await auditLog.begin(actor, { action: 'setPrice', given: { prefix: '27', said: 'é "x"\n' } })
    const [begun] = await auditLog.list({}, 10)
    assert.equal(begun?.begun.sequence, sequence)
    assert.equal(begun.ended, undefined)
    await auditLog.end(sequence, { outcome: 'set', changed: { priceTenths: [null, 7] } })
    const [change, ...more] = await auditLog.list({}, 10)
    assert.deepEqual(more, [])
    const record: unknown = JSON.parse(change?.begun.record ?? '')
    assert.deepEqual(record, { ...actor, action: 'setPrice', given: { prefix: '27', said: 'é "x"\n' } })
    assert.deepEqual(JSON.parse(change?.ended?.record ?? ''), { outcome: 'set', changed: { priceTenths: [null, 7] } })
    assert.equal(change?.ended?.ends, sequence)
  },

  'changes are found by account, person and action, latest first, in pages': async (ports) => {
    const { auditLog } = ports
    const [one, other] = [await anAccount(ports), await anAccount(ports)]
    const sequences: AuditSequence[] = []
    for (const [account, action, by] of [
      [one.id, 'lockAccount', 'ann@alpha'],
      [other.id, 'lockAccount', 'bob@alpha'],
      [one.id, 'unlockAccount', 'bob@beta'],
      [undefined, 'skipIds', 'ann@alpha'],
    ] as const) {
      sequences.push(await auditLog.begin({ ...actor, by }, { action, account }))
    }
    const found = async (...args: Parameters<typeof auditLog.list>): Promise<readonly number[]> =>
      (await auditLog.list(...args)).map(({ begun }) => sequences.indexOf(begun.sequence))
    assert.deepEqual(await found({}, 10), [3, 2, 1, 0])
    assert.deepEqual(await found({ account: one.id }, 10), [2, 0])
    assert.deepEqual(await found({ by: 'bob' }, 10), [2, 1])
    assert.deepEqual(await found({ by: 'b%b' }, 10), [], 'no pattern')
    assert.deepEqual(await found({ action: 'lockAccount' }, 10), [1, 0])
    assert.deepEqual(await found({ action: 'lockAccount', account: one.id, by: 'ann' }, 10), [0])
    assert.deepEqual(await found({}, 2), [3, 2])
    assert.deepEqual(await found({ before: sequences[2] }, 10), [1, 0])
  },

  'concurrent entries have consecutive positions, and each hash covers the entry before': async ({ auditLog }) => {
    const changes = await Promise.all(
      Array.from({ length: concurrentCallers }, async (_, at) => {
        const sequence = await auditLog.begin(actor, { action: `change ${at}` })
        await auditLog.end(sequence, { outcome: 'done' })
        return sequence
      }),
    )
    assert.equal(new Set(changes).size, concurrentCallers)
    const entries = (await collect(auditLog.entries())).flat()
    assert.deepEqual(
      entries.map(({ sequence }) => sequence),
      Array.from({ length: 2 * concurrentCallers }, (_, at) => at + 1),
    )
    let before = auditHashOfNothing
    for (const entry of entries) {
      before = createHash('sha256').update(auditHashInput(before, entry)).digest('hex')
      assert.equal(entry.hash, before)
    }
    assert.deepEqual(await auditLog.check(), { entries: entries.length, hash: before, broken: undefined })
  },
}
