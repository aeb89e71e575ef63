import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import { anAccount } from '../builders.ts'
import type { Contract } from './contract.ts'
import { callersMany } from './shared.ts'

/** What the port `RateLimits` promises; `useRate` has the rule. Counts of a minute's worth hold on a machine that stands still. */
export const rateLimitsContract: Contract<StoredPorts> = {
  'of many that take a minute at the same time one does, and the others are told when': async (ports) => {
    const { id } = await anAccount(ports)
    const takes = Array.from({ length: callersMany }, () => ports.rateLimits.take(id, 'recipients', 600, 10))
    const results = await Promise.all(takes)
    assert.equal(results.filter((result) => result === 'taken').length, 1)
    const refused = await ports.rateLimits.take(id, 'recipients', 1, 10)
    assert.ok(typeof refused === 'object' && refused.overLimitSeconds > 30 && refused.overLimitSeconds <= 60)
  },

  'no account takes from another, and requests take nothing from recipients': async (ports) => {
    const [one, other] = [await anAccount(ports), await anAccount(ports)]
    for (const { id } of [one, other]) {
      for (const what of ['requests', 'recipients'] as const) {
        assert.equal(await ports.rateLimits.take(id, what, 600, 10), 'taken')
        assert.notEqual(await ports.rateLimits.take(id, what, 1, 10), 'taken')
      }
    }
  },
}
