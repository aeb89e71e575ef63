import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { KeyHash } from '@gateway/core/accounts'
import { factorOwner, type FactorOwner } from '@gateway/core/people'
import type { SealedSecret } from '@gateway/core/webhooks'
import { anAccount, anAccountId } from '../builders.ts'
import { concurrentCallers, type Contract } from './shared.ts'

const [ann, bob] = [factorOwner('operator', 1), factorOwner('account', 1)]
const secret = (name: string) => `sealed ${name}` as SealedSecret
const hash = (name: string) => `hash-of-${name}` as KeyHash

async function set({ people: { secondFactors } }: StoredPorts, of: FactorOwner, step = 100, codes = ['a', 'b']) {
  assert.equal(await secondFactors.set(of, secret(of), step, codes.map(hash)), true)
}

const trueOf = (all: readonly boolean[]) => all.filter((one) => one).length

export const secondFactorsContract: Contract<StoredPorts> = {
  'a second factor is found only by its owner, and can be set once until it is removed': async (ports) => {
    const { secondFactors } = ports.people
    assert.equal(await secondFactors.find(ann), undefined)
    await set(ports, ann)
    const found = await secondFactors.find(ann)
    assert.deepEqual({ ...found, since: 0 }, { secret: secret(ann), since: 0, recoveryCodes: 2 })
    assert.equal(await secondFactors.find(bob), undefined)
    assert.equal(await secondFactors.set(ann, secret('other'), 200, []), false)
    assert.equal((await secondFactors.find(ann))?.secret, secret(ann))
    assert.equal(await secondFactors.remove(ann), true)
    assert.equal(await secondFactors.remove(ann), false)
    assert.equal(await secondFactors.find(ann), undefined)
    await set(ports, ann)
  },

  'of concurrent calls that set a second factor one succeeds': async ({ people: { secondFactors } }) => {
    const all = Array.from({ length: concurrentCallers }, (_, at) => secondFactors.set(ann, secret(`${at}`), 1, []))
    assert.equal(trueOf(await Promise.all(all)), 1)
  },

  'a time step is used once, also with concurrent calls, and earlier steps are refused afterwards': async (ports) => {
    const { secondFactors } = ports.people
    await set(ports, ann, 100)
    await set(ports, bob, 100)
    assert.equal(await secondFactors.useStep(ann, 100), false, 'it was set up with this one')
    const all = Array.from({ length: concurrentCallers }, () => secondFactors.useStep(ann, 102))
    assert.equal(trueOf(await Promise.all(all)), 1)
    assert.equal(await secondFactors.useStep(ann, 101), false)
    assert.equal(await secondFactors.useStep(ann, 103), true)
    assert.equal(await secondFactors.useStep(bob, 102), true)
    await secondFactors.remove(ann)
    assert.equal(await secondFactors.useStep(ann, 104), false)
  },

  'a recovery code is used once, also with concurrent calls, and only by its owner': async (ports) => {
    const { secondFactors } = ports.people
    await set(ports, ann)
    await set(ports, bob, 1, ['c'])
    assert.equal(await secondFactors.useRecoveryCode(bob, hash('a')), false)
    const all = Array.from({ length: concurrentCallers }, () => secondFactors.useRecoveryCode(ann, hash('a')))
    assert.equal(trueOf(await Promise.all(all)), 1)
    assert.equal((await secondFactors.find(ann))?.recoveryCodes, 1)
    assert.equal(await secondFactors.replaceRecoveryCodes(ann, ['x', 'y', 'z'].map(hash)), true)
    assert.equal(await secondFactors.useRecoveryCode(ann, hash('b')), false)
    assert.equal(await secondFactors.useRecoveryCode(ann, hash('z')), true)
    await secondFactors.remove(ann)
    assert.equal(await secondFactors.useRecoveryCode(ann, hash('x')), false)
    assert.equal(await secondFactors.replaceRecoveryCodes(ann, []), false)
  },

  'an account requires a second factor while that is set': async (ports) => {
    const { secondFactors } = ports.people
    const [{ id }, other] = [await anAccount(ports), await anAccount(ports)]
    assert.equal(await secondFactors.isRequired(id), false)
    assert.equal(await secondFactors.setRequired(id, true), true)
    assert.deepEqual([await secondFactors.isRequired(id), await secondFactors.isRequired(other.id)], [true, false])
    assert.equal(await secondFactors.setRequired(id, false), true)
    assert.equal(await secondFactors.isRequired(id), false)
    assert.equal(await secondFactors.setRequired(anAccountId(2 ** 31 - 1), true), false)
  },

  'resealing replaces all secrets or none, and the latest one is returned': async (ports) => {
    const { secondFactors } = ports.people
    assert.equal(await secondFactors.lastSecret(), undefined)
    await set(ports, ann)
    await set(ports, bob)
    assert.equal(await secondFactors.lastSecret(), secret(bob))
    const again = (sealed: SealedSecret) => (sealed === secret(ann) ? secret('again') : sealed)
    assert.equal(await secondFactors.resealSecrets(again), 1)
    assert.equal((await secondFactors.find(ann))?.secret, secret('again'))
    await assert.rejects(
      secondFactors.resealSecrets((sealed) => {
        if (sealed === secret(bob)) throw new Error('no key')
        return secret('lost')
      }),
      /no key/,
    )
    assert.equal((await secondFactors.find(ann))?.secret, secret('again'))
  },
}
