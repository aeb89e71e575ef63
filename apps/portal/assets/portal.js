// What pages do by themselves. Every task works without it.

/** Marked parts of the page follow: the server sends the page again each time that it has changed. */
function follow() {
  const source = new EventSource(location.href)
  source.addEventListener('page', ({ data }) => replaceParts(new DOMParser().parseFromString(data, 'text/html')))
  source.addEventListener('end', ({ data }) => {
    source.close()
    // Whoever was signed out meanwhile is led to where one signs in.
    if (data === 'gone') location.reload()
  })
  addEventListener('pagehide', () => source.close())
}

function replaceParts(next) {
  for (const part of document.querySelectorAll('[data-live]')) {
    const changed = next.getElementById(part.id)
    // A part that somebody works in stays until he leaves it.
    if (changed && changed.outerHTML !== part.outerHTML && !part.contains(document.activeElement)) {
      part.replaceWith(changed)
      void markSeen()
      tell()
    }
  }
}

/** What somebody looks at is marked as read. */
async function markSeen() {
  const form = document.querySelector('form.seen')
  if (form === null || document.visibilityState !== 'visible') return
  const body = new URLSearchParams([...new FormData(form), ['step', 'read']])
  await fetch(form.action, { method: 'POST', body, redirect: 'manual' }).catch(() => undefined)
}

const toldEveryMs = 60_000
let told = -Infinity

/** For screen readers, at most once a minute. */
function tell() {
  if (performance.now() - told < toldEveryMs) return
  told = performance.now()
  document.getElementById('said').textContent = 'The figures of this page have changed.'
}

/** How far the reader's clock is from the times of the page. */
function ownZone() {
  const minutes = -new Date().getTimezoneOffset() - 120
  if (minutes === 0) return ''
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone.replace(/.*\//, '').replaceAll('_', ' ')
  const hours = Math.abs(minutes) / 60
  return ` Yours: ${zone}, ${hours} ${hours === 1 ? 'hour' : 'hours'} ${minutes < 0 ? 'earlier' : 'later'}.`
}

// Each part that answers while somebody types is a file of its own.
for (const element of document.querySelectorAll('[data-island]'))
  import(`./${element.dataset.island}.js`).then(({ mount }) => mount(element))
void markSeen()
addEventListener('visibilitychange', markSeen)
if ('follow' in document.body.dataset) follow()
document.getElementById('own-zone').textContent = ownZone()
document.getElementById('problems')?.focus()
// A second click does nothing; what is submitted twice is done once anyway.
addEventListener('submit', ({ target }) => {
  setTimeout(() => target.querySelectorAll('button').forEach((button) => (button.disabled = true)))
})
// A page that is shown again by "Back" can be submitted again.
addEventListener('pageshow', () => document.querySelectorAll('button').forEach((button) => (button.disabled = false)))
