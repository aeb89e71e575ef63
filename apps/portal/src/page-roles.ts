import { mayHolder } from '@gateway/core'
import type { HolderRole } from '@gateway/core/people'
import type { Page } from './page.ts'
import { pages } from './pages/index.ts'

export const mayChange = (role: HolderRole, page: Page): boolean =>
  page.audience !== 'holder' || page.changes === undefined || mayHolder(role, page.changes)

const posting = pages
  .filter(({ submit }) => submit !== undefined)
  .map((page) => ({ page, of: new RegExp(`^${page.path.replaceAll(/:\w+/g, '[^/]+')}$`) }))

/** Returns the page whose form is submitted to this path. */
function postingPage(path: string): Page | undefined {
  const to = path.replace(/\?.*/, '')
  return (posting.find(({ page }) => page.path === to) ?? posting.find(({ of }) => of.test(to)))?.page
}

export function mayPost(role: HolderRole, path: string): boolean {
  const page = postingPage(path)
  return page === undefined || mayChange(role, page)
}

export function maySee(role: HolderRole, path: string): boolean {
  const page = postingPage(path)
  return page?.audience !== 'holder' || page.isForm !== true || mayChange(role, page)
}
