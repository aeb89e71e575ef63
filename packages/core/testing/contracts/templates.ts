import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import { templateLimits, type TemplateId } from '@gateway/core/bulk-sends'
import { anAccount } from '../builders.ts'
import { concurrentCallers, type Contract } from './shared.ts'

const nobody = (2 ** 52) as TemplateId

async function added({ templates }: StoredPorts, by: AccountId, name: string, text = 'Hello'): Promise<TemplateId> {
  const id = await templates.add(by, { name, text })
  return typeof id === 'string' ? assert.fail(id) : id
}

export const templatesContract: Contract<StoredPorts> = {
  'templates are listed by name, changed and removed, and visible only to their account': async (ports) => {
    const [{ id: by }, { id: other }] = [await anAccount(ports), await anAccount(ports)]
    const { templates } = ports
    const text = 'Dear {name},\n“5 €” is due'
    const b = await added(ports, by, 'b')
    const a = await added(ports, by, 'a', text)
    const foreign = await added(ports, other, 'a')
    assert.deepEqual(await templates.list(by), [
      { id: a, name: 'a', text },
      { id: b, name: 'b', text: 'Hello' },
    ])
    assert.equal(await templates.change(by, b, { name: 'c', text: 'x' }), 'changed')
    assert.equal(await templates.change(by, b, { name: 'c', text: 'y' }), 'changed')
    for (const id of [foreign, nobody]) {
      assert.equal(await templates.change(by, id, { name: 'a', text: 'z' }), 'no-such-template')
      assert.equal(await templates.remove(by, id), false)
    }
    assert.equal(await templates.remove(by, a), true)
    assert.equal(await templates.remove(by, a), false)
    assert.deepEqual(await templates.list(by), [{ id: b, name: 'c', text: 'y' }])
    assert.deepEqual(await templates.list(other), [{ id: foreign, name: 'a', text: 'Hello' }])
  },

  'names are unique, also with concurrent additions, and a refused addition leaves nothing behind': async (ports) => {
    const { id: by } = await anAccount(ports)
    const { templates } = ports
    const tries = Array.from({ length: concurrentCallers }, (_, i) => templates.add(by, { name: 'a', text: `${i}` }))
    const all = await Promise.all(tries)
    assert.equal(all.filter((id) => id === 'name-taken').length, concurrentCallers - 1)
    assert.equal((await templates.list(by)).length, 1)
    const id = await added(ports, by, 'b', 'as it was')
    assert.equal(await templates.change(by, id, { name: 'a', text: 'x' }), 'name-taken')
    assert.equal((await templates.list(by))[1]?.text, 'as it was')
  },

  'an account never has more than the maximum, also with concurrent additions': async (ports) => {
    const { id: by } = await anAccount(ports)
    const { templates } = ports
    const more = templateLimits.perAccountMax + 20
    const all = await Promise.all(
      Array.from({ length: more }, (_, i) => templates.add(by, { name: `${i}`, text: 'Hello' })),
    )
    assert.equal(all.filter((id) => id === 'too-many').length, 20)
    assert.equal((await templates.list(by)).length, templateLimits.perAccountMax)
    assert.ok(await templates.remove(by, all.find((id) => typeof id === 'number') ?? nobody))
    await added(ports, by, 'another')
  },
}
