// Behaviour that pages gain from scripts. Every task also works without scripts.

/** Keeps the elements marked `data-live` current: the server sends the whole page again whenever it has changed. */
function follow() {
  const source = new EventSource(location.href)
  source.addEventListener('page', ({ data }) => replaceParts(new DOMParser().parseFromString(data, 'text/html')))
  source.addEventListener('end', ({ data }) => {
    source.close()
    // If the reader has been signed out meanwhile, reloading leads to the sign-in page.
    if (data === 'gone') location.reload()
  })
  addEventListener('pagehide', () => source.close())
}

function replaceParts(next) {
  for (const part of document.querySelectorAll('[data-live]')) {
    const changed = next.getElementById(part.id)
    // An element that has the focus is not replaced, so that the reader's work is not lost.
    if (changed && changed.outerHTML !== part.outerHTML && !part.contains(document.activeElement)) {
      part.replaceWith(changed)
      void markSeen()
      announce()
    }
  }
}

/** Marks the messages of the conversation as read while the page is visible. */
async function markSeen() {
  const form = document.querySelector('form.seen')
  if (form === null || document.visibilityState !== 'visible') return
  const body = new URLSearchParams([...new FormData(form), ['step', 'read']])
  await fetch(form.action, { method: 'POST', body, redirect: 'manual' }).catch(() => undefined)
}

const toldEveryMs = 60_000
let announcedAt = -Infinity

/** Announces a change of the page to screen readers, at most once a minute. */
function announce() {
  if (performance.now() - announcedAt < toldEveryMs) return
  announcedAt = performance.now()
  document.getElementById('said').textContent = 'The figures of this page have changed.'
}

/** Returns a sentence with the offset between the reader's time zone and GMT+2, or '' if there is none. */
function ownZone() {
  const minutes = -new Date().getTimezoneOffset() - 120
  if (minutes === 0) return ''
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone.replace(/.*\//, '').replaceAll('_', ' ')
  const hours = Math.abs(minutes) / 60
  return ` Yours: ${zone}, ${hours} ${hours === 1 ? 'hour' : 'hours'} ${minutes < 0 ? 'earlier' : 'later'}.`
}

// Each island, a component that responds while the reader types, is loaded from a file of its own.
for (const element of document.querySelectorAll('[data-island]'))
  import(`./${element.dataset.island}.js`).then(({ mount }) => mount(element))
void markSeen()
addEventListener('visibilitychange', markSeen)
if ('follow' in document.body.dataset) follow()
document.getElementById('own-zone').textContent = ownZone()
document.getElementById('problems')?.focus()
// Disables the buttons of a submitted form, so that a second click does nothing. The server ignores repeated
// submissions too.
addEventListener('submit', ({ target }) => {
  setTimeout(() => target.querySelectorAll('button').forEach((button) => (button.disabled = true)))
})
// A page restored by the browser's "Back" can be submitted again.
addEventListener('pageshow', () => document.querySelectorAll('button').forEach((button) => (button.disabled = false)))
