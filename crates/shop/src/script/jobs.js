// What is not finished yet. It is kept in this browser from the first signature on, so that a reload in the middle goes on where it was;
// and nobody does it twice at once, in whichever tab.

const jobs = () => keep("jobs") ?? [];
const save = (job) => keep("jobs", [...jobs().filter((one) => one.key !== job.key), job]);
const forget = (job) => keep("jobs", jobs().filter((one) => one.key !== job.key));

const held = new Set();
const lockOf = (job) => `shop:${shop.project}:${job.key}`;
const isHeld = (job) => held.has(lockOf(job));

// Does something with a job, unless that is going on already, here or in another tab. Where a page is not encrypted, browsers have no
// locks, and only this tab is kept from it.
async function alone(job, act) {
  const name = lockOf(job);
  if (held.has(name)) return false;
  held.add(name);
  try {
    if (!navigator.locks) return await act();
    return await navigator.locks.request(name, { ifAvailable: true }, (lock) => (lock ? act() : false));
  } finally {
    held.delete(name);
    show();
  }
}

// Those that somebody can go on with: nobody does, in any tab.
async function waiting() {
  const locks = (await navigator.locks?.query())?.held ?? [];
  return jobs().filter((job) => !isHeld(job) && !locks.some((lock) => lock.name === lockOf(job)));
}

// A job as it is now: another tab may have brought it further since it was shown.
const resume = (shown) => alone(shown, async () => {
  const job = jobs().find((one) => one.key === shown.key);
  return job ? go(job) : false;
});
