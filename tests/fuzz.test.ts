import { testSeed } from '@gateway/core/testing'
import { runCampaign } from './fuzz/campaign.ts'

/**
 * Endpoints whose requests are mostly refused: an account has at most ten webhooks and one running replay, and the
 * fuzzer does not delete existing webhooks.
 */
const mostlyRefused = ['POST /webhooks', 'DELETE /webhooks/{id}', 'POST /webhooks/{id}/replay']

test('no fuzzed input or raw bytes cause an internal error, an undescribed form of answer or a wrong ledger', async () => {
  const { tallies, wrong } = await runCampaign({ count: 60, seed: testSeed() })
  expect(wrong).toEqual([])
  expect(tallies).toHaveLength(35)
  // For each other endpoint, at least 15 % of the inputs are well-formed enough to be executed.
  const shares = tallies
    .filter(({ target }) => target.by !== 'raw' && !mostlyRefused.includes(target.name))
    .map(({ target, done, inputs }) => [target.name, done / inputs] as const)
  expect(shares.filter(([, share]) => share < 0.15)).toEqual([])
}, 120_000)
