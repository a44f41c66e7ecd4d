"""Tickets that the sample data does not cover: an outdoor shop's, a grocery's, and known causes told in other words."""

OUTDOOR_SHOP = (     # words of which the cause must hold at least one, subject, body
    ("zip zipper", "Sleeping bag",
     "Hi there, second night out with the Borealis bag and the zip has given up, the slider runs but the teeth "
     "open again behind it. My husband thinks I pulled it too hard, I really did not. Photos attached.\n"
     "\n"
     "Best,\n"
     "Maura"),
    ("water waterproof leak", "jacket",
     "Wore the Skarn shell on a wet day on the fells. After an hour my shoulders were soaked, the rain came "
     "straight through at the seams. It was sold to me as fit for the Lakes. Also, your hold music is awful."),
    ("late delivery overdue delayed", "order 88213 where is it",
     "Ordered on the 2nd, paid for express. It is now the 14th and my parcel has still not arrived, tracking says "
     "it has been at the depot since the 5th. We leave on Saturday!"),
    ("wrong item mix", "Not my colour",
     "Hello, I ordered the trail shoe in green, size 42, and the box held a blue one, size 39. The label on the "
     "box was right, so I suppose someone packed the wrong pair. Can you swap it?"),
    ("missing parts incomplete", "Tent without poles",
     "Unpacked the Vesper 3 in the garden to be safe and two pole sections and all of the pegs are missing from "
     "the bag. Trip is in nine days."),
    ("refund", "money",
     "I sent the boots back on 3 October, your warehouse signed for them on the 6th. Four weeks later I am still "
     "waiting for my refund. I have written twice. Please just pay it."),
    ("discount coupon promo code", "AUTUMN15",
     "The voucher from your newsletter is not accepted at checkout, it says the code has expired, but the mail "
     "says valid until Sunday. Tried on phone and laptop."),
    ("stove burner gas igniter", "Pocket stove",
     "The igniter of my Ember stove clicks but makes no spark any more. Lit it with matches the whole week. It is "
     "five months old."),
    ("warranty guarantee", "claim 5512",
     "You refused my warranty claim because of “normal wear”. The pack is seven months old and the hip belt buckle"
     " snapped on its third trip. I want this looked at again."),
    ("size fit sizing", "Kids' fleece",
     "The 134 comes up far too small, my daughter is 130 tall and cannot get her arms in. According to the size "
     "chart it should have room. I'd like the next one up."),
    ("damaged", "Kocher zerbeult",
     "Guten Tag, das Paket kam gestern an, der Karton war völlig zerdrückt und der Topf darin beschädigt. Bitte um"
     " Ersatz.\n"
     "\n"
     "Mit freundlichen Grüßen\n"
     "P. Anders"),
    ("charge payment charged", "Kreditkarte",
     "Hallo, für Bestellung 88107 wurde der Betrag zweimal von meiner Karte abgebucht. Ich habe nur einmal "
     "bestellt. Liegt es vielleicht an meiner Bank?"),
    ("lost arrived missing", "Paquete",
     "Buenos días, la página dice que el pedido fue entregado el lunes pero no he recibido nada, y mis vecinos "
     "tampoco. El paquete se ha perdido."),
    ("battery", "Headlamp",
     "Fully charged it before the hut trip, and the battery was dead after two hours on the lowest setting. The "
     "old one lasted me two nights."),
    ("sole seam apart", "Approach shoes",
     "The sole of the left shoe is coming apart at the toe after six weeks of easy paths. Glue is just peeling "
     "off."),
)

RETOLD = (     # the lexicon's concept, subject, body
    ("duplicate charge", "bank statement",
     "You took the October fee from our account on the 1st and the very same amount on the 2nd. We have one "
     "subscription. Please send one of the two payments back."),
    ("single sign-on broken", "Login",
     "Since you renewed something on your side our people land on the start page again after they authenticate "
     "with Okta. Nobody can log in, only my local password still works."),
    ("time zone shift", "Kalender",
     "Seit der Zeitumstellung stehen alle Termine bei uns eine Stunde zu früh im Kalender."),
    ("export cut off", "CSV",
     "The download of last year's orders stops after 5,000 rows without any warning; smaller ranges are complete."),
    ("emails land in spam", "Receipts",
     "Our guests tell us they do not get the booking confirmation. Those with Gmail find it in the junk folder."),
    ("single sign-on broken", "Door closed",
     "Our staff authenticate against PingFederate. Since your maintenance on Sunday each of them is thrown out "
     "right after approving. The admin console says the response could not be validated because of an unknown "
     "issuer key. Accounts with a plain password are not hit."),
    ("single sign-on broken", "nobody can work",
     "Monday 8am and the whole office is locked out. We press the 'Sign in with Contoso' button, do the "
     "Authenticator, and end up at the same screen. Our IT says nothing changed here. IT also mentions that your "
     "signing cert expired?"),
    ("duplicate charge", "Money taken two times",
     "My wife booked one massage and the bank took 65 euros and then 65 euros more. Your receipt shows only one."),
    ("duplicate charge", "reconciliation",
     "In Stripe I count 12 transactions for 11 invoices. Invoice 4471 went through at 10:02:11 and once more at "
     "10:03:12 with the same token. The client wants the surplus back."),
    ("duplicate charge", "Rechnung 20331",
     "Sehr geehrte Damen und Herren, der Betrag von 119,00 EUR wurde am 3. und am 4. November eingezogen, obwohl "
     "nur eine Rechnung existiert."),
    ("time zone shift", "Kunden kommen zu früh",
     "Seit dem letzten Wochenende stehen die Termine im Handykalender unserer Kunden 60 Minuten zu früh. In Ihrem "
     "System stimmt alles."),
    ("time zone shift", "schedule shift",
     "Our Phoenix branch is fine, but Denver and Boise see all of next week's jobs sixty minutes ahead in Google. "
     "We noticed it right after the clocks changed."),
    ("time zone shift", "my calendar is lying",
     "You say 3pm, my Outlook says 2pm. Every appointment, since Sunday."),
    ("export cut off", "quarterly file",
     "I ask for Q3 and get July and half of August, then the sheet simply stops. No warning. Two other colleagues "
     "see the same."),
    ("export cut off", "report never finishes",
     "The yearly revenue report runs and runs and finally shows a gateway error. If I take a month at a time it is"
     " fine."),
    ("export cut off", "No puedo descargar",
     "Cuando exporto las facturas del año, el fichero llega cortado en la línea 5000."),
    ("emails land in spam", "customers complain",
     "Half of my clients did not get yesterday's reminder. The ones at Yahoo and iCloud, mostly. Your log claims "
     "all were sent."),
    ("emails land in spam", "Newsletter?",
     "Our IT found your mails in the quarantine of our Barracuda filter, marked as spoofed since they fail DMARC."),
    ("emails land in spam", "Keine Bestätigung",
     "Unsere Gäste bekommen seit Tagen keine Bestätigungsmail mehr. Im Spam-Ordner war sie bei zweien."),
)

# A grocery shop's, in four languages.
SHOP = (        # what the ticket is about, its text; there are no subjects
    ("parcel", "Hello team,\n\nmy order #88231 from last Tuesday still hasn't turned up. Tracking says 'out for "
               "delivery' since Friday. I was home all day with the kids.\n\nThanks, Maren"),
    ("parcel", "Guten Tag,\n\nmein Paket ist nicht angekommen. Laut Sendungsverfolgung wurde es am 3.11. zugestellt, "
               "aber die Nachbarn haben es auch nicht.\n\nMit freundlichen Grüßen\nJürgen Holt"),
    ("parcel", "Bonjour,\nje n'ai toujours pas reçu mon colis commandé il y a 10 jours.\nMerci de votre aide\nCamille"),
    ("parcel", "The courier marked our groceries as delivered at 14:12 but nothing was at the door. No photo."),
    ("parcel", "¿Dónde está mi pedido? Debía llegar el martes y no ha llegado nada."),
    ("damaged", "The eggs were smashed again and the yoghurt had leaked over everything else in the bag. Not happy."),
    ("damaged", "Hallo, die Tiefkühlware war komplett aufgetaut und die Milch ausgelaufen."),
    ("damaged", "Bonjour, le bocal de sauce était cassé et tout le reste abîmé. Des morceaux de verre partout."),
    ("damaged", "hi there, bag was ripped, flour all over the hallway. driver just shrugged. can I get a refund"),
    ("voucher", "The WELCOME20 code from your leaflet says 'invalid' at checkout. Tried app and website."),
    ("voucher", "Mein Gutschein wird nicht akzeptiert. Es erscheint nur 'Code ungültig'."),
    ("twice", "Es wurde doppelt abgebucht! Zweimal 27,80 € für dieselbe Bestellung. Bitte umgehend erstatten."),
    ("crash", "Since the last update the app closes by itself as soon as I open my basket. Android 14."),
)
