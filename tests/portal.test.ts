import type { Browser } from 'playwright-core'
import { hasBrowser, startBrowser } from './portal/browser.ts'
import { journeys } from './portal/journeys.ts'
import { everyPage } from './portal/pages.ts'
import { startSite, type Site } from './portal/site.ts'
import { killLeftovers } from './support/process.ts'
import { runsGroup } from './support/runs-group.ts'

if (!hasBrowser)
  process.stderr.write('NOTICE: the portal is not tried in a browser: CHROMIUM names none, and npm has none for here\n')

let browser: Browser
let site: Site
beforeAll(async () => {
  if (!hasBrowser) return
  ;[browser, site] = await Promise.all([startBrowser(), startSite()])
})
afterAll(async () => {
  if (!hasBrowser) return
  await browser.close()
  await site.stop()
  killLeftovers()
})

const describeIt = hasBrowser ? describe : describe.skip

const world = () => ({ browser, site })

// The journeys fill the pages.
describeIt('journeys', () => journeys(world))
if (runsGroup('browsers')) describeIt('every page is for everybody to read', () => everyPage(world))
