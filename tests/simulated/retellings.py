"""The main causes of both data sets told again by other people: short and long, calm and cross, in their own words.

Each is (cause in gold.csv, subject, body).
"""

FERNHILL = (
    ("sso sign-in failure after certificate change", "can't get on",
     "It's all of us, since breakfast. I click the big grey button for the firm's account, our own Microsoft screen is "
     "happy with me, and then your page says it doesn't trust the answer. My colleague who has a separate password "
     "for you is working as normal."),
    ("sso sign-in failure after certificate change", "Okta tile → back to Okta",
     "IT here. Users who start from the Okta tile are returned to Okta after a blank page at your end. Okta logs the "
     "assertion as delivered. Nothing was altered on our side. Did you swap keys last night?"),
    ("sso sign-in failure after certificate change", "Merry-go-round",
     "We're a school, 60 teachers. Everyone types their school Google details, it accepts them, for a second I see "
     "your logo and then it asks again. Different browsers, different buildings. Worked on Friday."),
    ("sso sign-in failure after certificate change", "locked out of our own rota!!",
     "whole team is out, nobody gets in with the work login. message: 'response signature could not be verified'. "
     "please, we open at 9"),
    ("sso sign-in failure after certificate change", "Access",
     "Good day, since the weekend none of my nurses is able to enter the programme through the hospital's page. They "
     "put in the number from the telephone, hospital says welcome, your side says error 4031 and throws them out. The "
     "temps, who have a simple username from you, have no trouble."),
    ("duplicate card charge", "Client says we robbed her",
     "Mrs. Adler paid 85.00 for a perm on Tuesday. Her banking app lists us two times, same day, same sum, four "
     "minutes apart. On my screen there's a single payment. Who has the other 85?"),
    ("duplicate card charge", "refund please",
     "I pushed Pay, the circle turned for over a minute, it said something went wrong, then it said done. Visa has 240 "
     "from me and then another 240."),
    ("duplicate card charge", "Reconciling October",
     "Our bookkeeper is left with seven amounts that the bank received and for which you have no record, each one an "
     "exact copy of a payment that you do have. All of them from the afternoon of the third."),
    ("duplicate card charge", "money gone 2x",
     "hi!! why did you take it out twice?? i only had ONE lesson. 60 and 60 on my statement"),
    ("duplicate card charge", "Card reader?",
     "Three customers rang within an hour, all with the same tale: the amount left their account, and left it again. "
     "I checked, my lad tapped once each time. Could it be the terminal?"),
    ("calendar events one hour off", "I was early, again",
     "The phone said 10, so I rang the doorbell at 10. The lady was in her bathrobe and told me eleven. In the office "
     "list it does say 11. Every visit on my phone is like that since Sunday."),
    ("calendar events one hour off", "Google vs you",
     "Bookings made in your system turn up in Google Calendar 60 minutes before they should. Private entries are "
     "fine. It began on the last weekend of October."),
    ("calendar events one hour off", "Nobody in the chair",
     "My stylists follow their iPhones. Appointment 14.30, iPhone 13.30. Appointment 9.00, iPhone 8.00. Please put it "
     "right, they sit there with cold coffee."),
    ("calendar events one hour off", "Clocks?",
     "We're in Ohio. After the clocks went back everything you send to Outlook sits too soon by exactly the same "
     "step. I wondered if one of the girls had changed a setting, but it's on all our machines."),
    ("calendar events one hour off", "lesson times",
     "parents get one time from you and a different one in the feed they subscribed to, theirs is always an hour "
     "sooner. we already missed two lessons"),
    ("export incomplete or timing out", "List is short",
     "I pull the jobs for the year into a sheet. It ends in August. Always at line 10,001, headings included. We did "
     "work in autumn, I promise."),
    ("export incomplete or timing out", "The bar stops at two thirds",
     "Every month I press 'Build' for the payroll file. It now creeps to about two thirds and sits there until I go "
     "home. One branch alone comes through in ten seconds."),
    ("export incomplete or timing out", "auditors waiting",
     "The yearly report can't be fetched: after a minute I get a white page with 'gateway' something. Weeks are OK, "
     "quarters not."),
    ("export incomplete or timing out", "Numbers don't add up",
     "Our controller compared the CSV with your dashboard: dashboard 14,212 visits, CSV 10,000 on the nose. Where are "
     "the other four thousand?"),
    ("export incomplete or timing out", "scheduled report",
     "It used to be in my inbox at six. The run page says 'started' for four days in a row, and no file. The tiny ones "
     "for the other region are there."),
    ("emails not delivered", "they never see it",
     "Our patients say that they have had no reminder. Your outbox has a green tick on each. Two found it in their "
     "rubbish folder when I made them look."),
    ("emails not delivered", "Bounced",
     "451 4.7.1 sender reputation, try later. That is what comes back for everyone with a Yahoo address since last "
     "week."),
    ("emails not delivered", "No-shows tripled",
     "People simply don't turn up any more. I called ten of them: not one had received the confirmation, though you "
     "show it as sent."),
    ("emails not delivered", "hotmail",
     "customers w/ hotmail + live get nothing from us. gmail ok. same text, same time. been going on since the 8th"),
    ("emails not delivered", "Junk",
     "Hello, a client forwarded me our own booking mail with a red banner: this sender could not be verified. It had "
     "been filed as suspicious. We send from our own domain."),
    ("sso sign-in failure after certificate change", "new starters and old ones",
     "Nobody gets past the front page this morning. We go via the group's Entra login, which says fine, and then"
     " your site shows 'identity could not be confirmed'. My private account with a password is not affected."),
    ("sso sign-in failure after certificate change", "door shut",
     "I'm the receptionist and I've been trying since seven. I choose 'use my company account', approve on the "
     "mobile, page flickers, I'm back where I started. Same for the doctors."),
    ("sso sign-in failure after certificate change", "SAML",
     "InvalidSignature on every AuthnResponse since 04:40 UTC. We host ADFS ourselves and rotated nothing. "
     "Please publish your current metadata."),
    ("duplicate card charge", "Why 2",
     "Paid for my son's guitar term, £180. Monzo pinged, and pinged again. Two payments of £180.00 to your "
     "merchant name."),
    ("duplicate card charge", "customer wants his money",
     "He swiped once, I watched him. His credit card shows our charge for $95 repeated six minutes later. I only"
     " have the first in the payments list."),
    ("duplicate card charge", "Überzahlung",
     "Ein Kunde sagt, sein Konto sei am 3.11. gleich zwei Mal mit 129,00 Euro belastet worden. Bei uns steht nur"
     " eine Zahlung."),
    ("calendar events one hour off", "showing up wrong",
     "My cleaners' phones have every job at the hour before. 8 becomes 7, 13 becomes 12. The website itself is "
     "right."),
    ("calendar events one hour off", "kids waiting",
     "since the clocks changed the subscribed calendar is out by an hour for all our tutors"),
    ("calendar events one hour off", "Outlook entries",
     "What you push to Exchange is 60 min too early. New appointments and old ones. Did you forget winter time?"),
    ("export incomplete or timing out", "half a year",
     "When I save the visits as a spreadsheet it only holds January to May, though the screen shows all twelve "
     "months."),
    ("export incomplete or timing out", "nothing to download",
     "The big report never becomes ready. I leave it an hour, still 'preparing'. When I choose one team it's "
     "done in a blink."),
    ("export incomplete or timing out", "rows lost",
     "Your CSV has exactly 10,000 lines and my database says there should be 23,418."),
    ("emails not delivered", "silence",
     "Patients tell us they got no confirmation by e-mail. We can see it was sent. Some had it in spam."),
    ("emails not delivered", "Bounces from Outlook.com",
     "550 5.7.1 our messages are refused, says Microsoft, because the sending server is on a block list. Started"
     " Saturday."),
    ("emails not delivered", "reminders",
     "Hi, three families missed their lesson as the reminder never came. I tested it with my own icloud address:"
     " nothing either."),
    ("sso sign-in failure after certificate change", "Portal",
     "All our carers get an empty screen and then the login of our own provider once more. Only the boss, who "
     "has her own password, can look at the rota."),
    ("sso sign-in failure after certificate change", "error on login",
     "The company button gives 'we do not recognise the signer of this message' for each of us. 40 people idle."),
    ("duplicate card charge", "Twice on my Amex",
     "The gardener's visit was 75. Amex has two of those, both Tuesday. One was enough!"),
    ("duplicate card charge", "kids swim class",
     "It span for ages, gave up, worked on its own later. I've now been relieved of 90 euros, times two."),
    ("calendar events one hour off", "Plumber came while I was in the shower",
     "He said his phone told him nine. We'd agreed ten, and you confirmed ten to me. His mate had the same on "
     "three visits."),
    ("calendar events one hour off", "iCal",
     "Every appointment synced to my iPad starts 1 hr too soon since we set the clocks."),
    ("export incomplete or timing out", "missing invoices in the download",
     "I asked for all invoices of the year and the xlsx quits in the middle of June."),
    ("export incomplete or timing out", "won't finish",
     "Generating the commission report hangs at 66%. I've tried five times."),
    ("emails not delivered", "Nothing in their inbox",
     "We send appointment confirmations through you and since Monday half of our customers say they have not got"
     " theirs."),
    ("emails not delivered", "blacklisted?",
     "Your outgoing mail server seems to be on Spamhaus, our quotes come back."),
)

LARKSPOON = (
    ("chilled food arriving warm", "prawns",
     "The prawns were warm when I unpacked them and the box had come on time. The ice had turned to water."),
    ("chilled food arriving warm", "Is this safe?",
     "Hello, my cool pouch had no chill left in it at all. I put a meat thermometer into the pork: 15 degrees. Please "
     "tell me whether I may cook it."),
    ("chilled food arriving warm", "meat in the bin again",
     "You're putting just one of those blue slabs in now and it's melted before it gets to me. Bacon slimy, cheese "
     "sweating. I've thrown away thirty quid's worth."),
    ("chilled food arriving warm", "temperature",
     "Since you moved depots nothing arrives cold. Fish at room temp, yoghurt runny, and the lad hands it to me in "
     "person, so it's not been sat outside."),
    ("chilled food arriving warm", "Disappointed",
     "Dear Sirs, the dairy part of yesterday's delivery could not be used. It had evidently been out of refrigeration "
     "for hours; the milk had turned. My wife blames the summer, yet it was a cool morning."),
    ("skipped week sent and charged", "not this week",
     "I'd skipped the 21st. I've got the screenshot. The box is here and so is the bill."),
    ("skipped week sent and charged", "We were away",
     "My account was set to pause from the 10th to the 24th. Two boxes came regardless, they're rotting in the porch, "
     "and you've helped yourselves to 95 pounds."),
    ("skipped week sent and charged", "tick means nothing",
     "What is the point of a button with a tick on it if you post the thing anyway and take my money? I turned off "
     "next Monday ten days in advance."),
    ("skipped week sent and charged", "unwanted box",
     "hi i cancelled just the one delivery (28/9) as we're at my mums, it said ok see you next time, today its on the "
     "doorstep and 44 quid has gone out"),
    ("skipped week sent and charged", "Holiday hold ignored",
     "Good evening. Before travelling I marked both weeks as 'no box'. On return: two parcels of spoiled food at the "
     "neighbour's and two payments. The app now pretends I never touched it."),
    ("ingredients missing from box", "where's the chicken",
     "Coq au vin, with no coq. Everything else is there."),
    ("ingredients missing from box", "Short again",
     "The card lists nine items, I count seven. No cream and no tarragon."),
    ("ingredients missing from box", "incomplete kit",
     "Hello, the bag for Wednesday's tacos was half empty: tortillas yes, beans yes, but you forgot the salsa, the "
     "avocado and the lime. I went out to the corner shop in the rain."),
    ("ingredients missing from box", "one onion",
     "Recipe needs 3 onions and 200 g of paneer. In the paper bag: one onion, zero paneer. I suspect someone dropped "
     "it on the line."),
    ("ingredients missing from box", "hungry",
     "forgot to pack our noodles?? its a ramen. we ate broth"),
    ("box left at wrong address", "Not my porch",
     "The photo you sent as proof is of somebody else's porch. I've walked the whole street and can't find it."),
    ("box left at wrong address", "Neighbour has our dinner",
     "We're 4B, your man leaves it at 4D. Every. Single. Thursday. They've begun to open them."),
    ("box left at wrong address", "courier",
     "The instructions say behind the shed. He put it at the bus stop. I only know since a lady rang the number on "
     "the label."),
    ("box left at wrong address", "Mill Lane or Mill Road",
     "I live in Mill Lane. The food went to Mill Road, a mile off, to an empty house. Kindly teach your sat nav the "
     "difference."),
    ("box left at wrong address", "wrong house",
     "u dropped it at the wrong house again pls fix the address thx"),
    ("credit or voucher not applied", "my free box",
     "I brought three friends along and was promised a free box for it. I've been billed in full."),
    ("credit or voucher not applied", "Gift card",
     "The number on the gift card was accepted, but the whole price came off my debit card and the card balance is "
     "untouched."),
    ("credit or voucher not applied", "half price?",
     "Signed up because of '50% off your first month'. First bill: 100% of the price. Where did my offer go?"),
    ("credit or voucher not applied", "LUNCH25",
     "typed LUNCH25, got a thumbs up, paid the same as ever"),
    ("credit or voucher not applied", "Store credit vanished",
     "After last month's mess you gave us fifteen pounds of goodwill. I had meant to use it this week; the checkout "
     "took no notice of it and charged everything to Visa."),
    ("chilled food arriving warm", "not chilled",
     "the salmon felt like it'd been on a radiator. ice packs were just bags of water. delivered at 8am!"),
    ("chilled food arriving warm", "Sour cream, literally",
     "My cream had turned by the time I opened the bag, the lamb was room temperature. The courier rang the "
     "bell, so it can't have stood about."),
    ("chilled food arriving warm", "cool box not cool",
     "Dear team, I'm afraid the perishable part of the delivery was at 17 degrees. I don't dare give this to my "
     "children."),
    ("skipped week sent and charged", "I unticked it",
     "I unticked the week of the 28th a fortnight ago. You took 52 quid and sent it all the same."),
    ("skipped week sent and charged", "surprise box",
     "Got home from Crete to a rotten box on the mat, even though we'd told you to pause for two weeks. Refund "
     "please."),
    ("skipped week sent and charged", "your skip is broken",
     "Skipped three Mondays. Three boxes. Three payments."),
    ("ingredients missing from box", "no pesto",
     "The pesto pasta came with pasta. No pesto. Everything else fine."),
    ("ingredients missing from box", "bag 2",
     "Bag number two had nothing but a leek in it. Where are the lentils, the bacon, the stock?"),
    ("ingredients missing from box", "short measure",
     "You left out the naan and the yoghurt for the curry, had to run to the shop."),
    ("box left at wrong address", "where is it",
     "Delivered, says the text. Not here. Turned out it was with the family at 23, we are 32."),
    ("box left at wrong address", "Instructions!",
     "It says in capital letters: LEAVE IN THE PORCH. He left it by the bins of the pub opposite."),
    ("box left at wrong address", "Flat B",
     "My box is always given to Flat D on the top floor. They're fed up with carrying it down and so am I."),
    ("credit or voucher not applied", "promo",
     "your code SPUD30 got me nothing off, I was billed the normal price"),
    ("credit or voucher not applied", "friend's bonus",
     "I recommended you to a colleague. She's on her third box, I still have not seen the £15 you promise."),
    ("credit or voucher not applied", "present from my aunt",
     "My aunt's gift voucher shows as redeemed, yet my bank paid for the whole box."),
    ("chilled food arriving warm", "hot chicken",
     "Chicken was warm, ice was gone. Never happened before this month."),
    ("chilled food arriving warm", "cheese",
     "When the delivery got here the mozzarella was swimming and the ham smelt. I was in all morning and took it"
     " straight off the driver."),
    ("chilled food arriving warm", "Please pack it colder",
     "My fridge thermometer says 16 for the minced lamb right after the bell rang. There's too little ice in "
     "these parcels lately."),
    ("skipped week sent and charged", "No thank you means no thank you",
     "I opted out of the 5th. You debited me for the 5th. You delivered on the 5th."),
    ("skipped week sent and charged", "we're in Spain",
     "Paused our plan until October, now the neighbour writes there are parcels by the door, and there's two "
     "lots of money missing."),
    ("skipped week sent and charged", "skip",
     "Your app showed 'skipped' on Tuesday and 'preparing your order' on Friday. I want my £49 back."),
    ("ingredients missing from box", "half a dinner",
     "The fish pie had everything but the fish."),
    ("ingredients missing from box", "Wo ist der Reis?",
     "In der Kiste fehlen der Reis und die Kokosmilch für das Curry."),
    ("ingredients missing from box", "garlic bread sans bread",
     "Just the garlic then. Could whoever packs these look at the list"),
    ("box left at wrong address", "Again next door",
     "Our dinner sat on next door's step until nine in the evening, although the number on our gate is a foot "
     "high."),
    ("box left at wrong address", "moved in March",
     "You keep delivering to my old flat. I changed the address in April, May and June."),
    ("box left at wrong address", "where did he put it",
     "The picture shows a green gate. I haven't got a gate."),
    ("credit or voucher not applied", "refer a mate",
     "Three mates in, zero pounds out. It says I'd get 10 for each."),
    ("credit or voucher not applied", "SUMMER",
     "Discount code went in fine but the invoice is for the full 56."),
    ("credit or voucher not applied", "apology money",
     "Your colleague credited me £12 for the burst yoghurt. It isn't on my account and it wasn't taken off this "
     "week's bill."),
)
