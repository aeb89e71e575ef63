import type { AccountId } from '@gateway/core/accounts'
import { templateLimits, type Template, type TemplateId, type Templates } from '@gateway/core/bulk-sends'
import { atomic } from './atomic.ts'
import type { MemoryStore } from './store.ts'

export function memoryTemplates(store: MemoryStore): Templates {
  const own = (by: AccountId): readonly Template[] =>
    [...store.templates.values()]
      .filter(({ account }) => account === by)
      .map(({ template }) => template)
      .sort((a, b) => (a.name < b.name ? -1 : 1))

  return {
    list: atomic(own),
    add: atomic((by, { name, text }) => {
      const there = own(by)
      if (there.some((one) => one.name === name)) return 'name-taken'
      if (there.length >= templateLimits.perAccountMax) return 'too-many'
      const id = store.next('template') as TemplateId
      store.templates.set(id, { account: by, template: { id, name, text } })
      return id
    }),
    change: atomic((by, id, { name, text }) => {
      const there = own(by)
      if (!there.some((one) => one.id === id)) return 'no-such-template'
      if (there.some((one) => one.name === name && one.id !== id)) return 'name-taken'
      store.templates.set(id, { account: by, template: { id, name, text } })
      return 'changed'
    }),
    remove: atomic((by, id) => store.templates.get(id)?.account === by && store.templates.delete(id)),
  }
}
